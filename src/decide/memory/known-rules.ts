import { RULE_GAP_US, type RuleSeen } from './store/memory-store.js';

/** How often the store is told that a rule is still in use, in microseconds. */
const NAME_EVERY_US = 60_000_000;
/** Most rules that are named in one exchange. */
const AT_ONCE = 2_000;

interface KnownRule extends RuleSeen {
  /** The rules of the plan that last named it: while they live, a program has the rule. */
  holder: WeakRef<readonly string[]>;
  sinceUs: number | null;
  /** By the monotonic clock. */
  namedAtUs: number;
}

interface KnownList {
  readonly namespace: string;
  readonly namedAtUs: number;
}

/** The rules of this process and since when they are recorded. */
export class KnownRules {
  readonly #monotonicUs: () => number;
  readonly #namespaces = new Map<string, Map<string, KnownRule>>();
  readonly #due = new Set<KnownRule>();
  /** Lists of rules that are all known, with when they were named: a program has the same list for all its steps. */
  #lists = new WeakMap<readonly string[], KnownList>();

  constructor(monotonicUs: () => number) {
    this.#monotonicUs = monotonicUs;
  }

  /** Has the store told of rules with the next exchange if they are new, or were told too long ago. */
  name(namespace: string, ruleIds: readonly string[]): void {
    if (ruleIds.length === 0) return;
    const atUs = this.#monotonicUs();
    const list = this.#lists.get(ruleIds);
    if (list?.namespace === namespace && atUs - list.namedAtUs < NAME_EVERY_US) return;
    this.#lists.delete(ruleIds);
    let rules = this.#namespaces.get(namespace);
    if (rules === undefined) {
      rules = new Map();
      this.#namespaces.set(namespace, rules);
    }
    for (const rule of ruleIds) {
      const known = rules.get(rule);
      if (known !== undefined) {
        if (atUs - known.namedAtUs >= NAME_EVERY_US) {
          known.holder = new WeakRef(ruleIds);
          this.#due.add(known);
        }
        continue;
      }
      const added = { namespace, rule, holder: new WeakRef(ruleIds), sinceUs: null, namedAtUs: -Infinity };
      rules.set(rule, added);
      this.#due.add(added);
    }
  }

  areKnown(namespace: string, ruleIds: readonly string[]): boolean {
    const list = this.#lists.get(ruleIds);
    if (list?.namespace === namespace) return true;
    const rules = this.#namespaces.get(namespace);
    const known = ruleIds.map((rule) => rules?.get(rule));
    if (known.some((rule) => (rule?.sinceUs ?? null) === null)) return false;
    const namedAtUs = known.reduce((first, rule) => Math.min(first, rule?.namedAtUs ?? first), Infinity);
    this.#lists.set(ruleIds, { namespace, namedAtUs });
    return true;
  }

  sinceUs(namespace: string, ruleId: string): number | null {
    return this.#namespaces.get(namespace)?.get(ruleId)?.sinceUs ?? null;
  }

  /** Names the rules of programs that live, whether or not there are steps; forgets those that were not named for long. */
  beat(): void {
    const atUs = this.#monotonicUs();
    for (const rules of this.#namespaces.values()) {
      for (const [rule, known] of rules) {
        if (atUs - known.namedAtUs >= RULE_GAP_US && !this.#due.has(known)) rules.delete(rule);
        else if (atUs - known.namedAtUs >= NAME_EVERY_US && known.holder.deref() !== undefined) {
          this.#due.add(known);
        }
      }
    }
  }

  /** The rules that the next exchange names. */
  due(): readonly KnownRule[] {
    return this.#due.size <= AT_ONCE ? [...this.#due] : [...this.#due].slice(0, AT_ONCE);
  }

  /** The store answered an exchange that named these rules. */
  named(rules: readonly RuleSeen[], sinceUs: readonly number[]): void {
    const atUs = this.#monotonicUs();
    // Since when rules are recorded may have changed.
    if (rules.length > 0) this.#lists = new WeakMap();
    rules.forEach((seen, index) => {
      const known = this.#namespaces.get(seen.namespace)?.get(seen.rule);
      if (known === undefined) return;
      known.sinceUs = sinceUs[index] ?? null;
      known.namedAtUs = atUs;
      this.#due.delete(known);
    });
  }

  clear(): void {
    this.#namespaces.clear();
    this.#lists = new WeakMap();
    this.#due.clear();
  }
}
