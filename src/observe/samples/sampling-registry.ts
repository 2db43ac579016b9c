import { FollowedState } from '../../storage/database/followed-state.js';
import { isOver, type SamplingRule } from './sampling-rule.js';

const NONE: readonly SamplingRule[] = [];

/** The sampling rules of all namespaces in memory, as they are read by id ascending; its clock is milliseconds since 1970. */
export class SamplingRegistry extends FollowedState<readonly SamplingRule[]> {
  /** Whether no step of any namespace is kept: then nothing else is looked at. */
  isEmpty = true;
  /** Whether a rule needs to know which controls a step was checked by. */
  needsControls = false;
  /** Number of readings so far. */
  readings = 0;
  #rules: ReadonlyMap<string, readonly SamplingRule[]> = new Map();

  /** Those of a namespace that are not over, by id ascending. */
  of(namespace: string): readonly SamplingRule[] {
    const rules = this.#rules.get(namespace);
    if (rules === undefined) return NONE;
    const nowMs = this.options.now();
    if (!rules.some((rule) => isOver(rule, nowMs))) return rules;
    this.take([...this.#rules.values()].flat());
    return this.#rules.get(namespace) ?? NONE;
  }

  /** Whether a rule is still there. */
  has({ id, namespace }: Pick<SamplingRule, 'id' | 'namespace'>): boolean {
    return this.#rules.get(namespace)?.some((rule) => rule.id === id) ?? false;
  }

  protected override take(rules: readonly SamplingRule[]): void {
    this.readings += 1;
    const nowMs = this.options.now();
    const live = rules.filter((rule) => !isOver(rule, nowMs));
    const byNamespace = new Map<string, SamplingRule[]>();
    for (const rule of live) {
      const known = byNamespace.get(rule.namespace);
      if (known === undefined) byNamespace.set(rule.namespace, [rule]);
      else known.push(rule);
    }
    this.#rules = byNamespace;
    this.isEmpty = live.length === 0;
    this.needsControls = live.some(({ controlId }) => controlId !== null);
  }
}
