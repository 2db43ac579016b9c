import type { RecordedChange } from '../../storage/database/change-log.js';
import { FollowedState } from '../../storage/database/followed-state.js';
import { isOver, type SamplingRule } from './sampling-rule.js';

export interface SamplingRegistryOptions {
  /** Reads the rules of all namespaces, by id ascending. */
  readonly read: () => Promise<readonly SamplingRule[]>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NONE: readonly SamplingRule[] = [];

/** The sampling rules in memory. Follows the changes of all processes; while they cannot be read, the last ones stay. */
export class SamplingRegistry {
  /** Whether no step of any namespace is kept: then nothing else is looked at. */
  isEmpty = true;
  /** Whether a rule needs to know which controls a step was checked by. */
  needsControls = false;
  /** Number of readings so far. */
  readings = 0;
  readonly #options: SamplingRegistryOptions;
  #rules: ReadonlyMap<string, readonly SamplingRule[]> = new Map();
  readonly #state: FollowedState;

  constructor(options: SamplingRegistryOptions) {
    this.#options = options;
    const read = async () => this.#take(await options.read());
    // Nothing is known at the start.
    this.#state = new FollowedState({ ...options, read }, true);
  }

  /** Those of a namespace that are not over, by id ascending. */
  of(namespace: string): readonly SamplingRule[] {
    const rules = this.#rules.get(namespace);
    if (rules === undefined) return NONE;
    const nowMs = this.#options.now();
    if (!rules.some((rule) => isOver(rule, nowMs))) return rules;
    this.#take([...this.#rules.values()].flat());
    return this.#rules.get(namespace) ?? NONE;
  }

  /** Whether a rule is still there. */
  has({ id, namespace }: Pick<SamplingRule, 'id' | 'namespace'>): boolean {
    return this.#rules.get(namespace)?.some((rule) => rule.id === id) ?? false;
  }

  /** Reads the database, with a reading that begins after this call. Never rejects. */
  refresh(): Promise<void> {
    return this.#state.readSoon();
  }

  /** Receives committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    if (changes.some(({ access }) => access)) void this.refresh();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.refresh();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    this.#state.catchUp();
  }

  #take(rules: readonly SamplingRule[]): void {
    this.readings += 1;
    const nowMs = this.#options.now();
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
