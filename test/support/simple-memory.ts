import { createHash } from 'node:crypto';
import type {
  MemoryKey,
  MemoryPlan,
  MemoryView,
  RuleKind,
  RuleReducer,
  RuleState,
  StepMemory,
} from '../../src/kernel/core/memory.js';
import { RULE_REDUCERS } from '../../src/kernel/evaluators/memory/memory-evaluators.js';

/** What is kept for a key. */
interface Cell {
  readonly states: Map<string, { readonly kind: RuleKind; state: RuleState | undefined }>;
  /** Steps that were allowed or denied, as stage, step and outcome. */
  readonly marks: Set<string>;
  /** Contents of steps that were allowed, by the hashes of the steps. */
  readonly digests: Map<string, string>;
  atUs: number;
}

/** Memory of one process, without a store, by a clock that a test sets. Steps are decided one after another: exact. */
export class SimpleMemory implements StepMemory {
  /** Microseconds since 1970. */
  nowUs: number;
  /** Whether the store answers. */
  isAvailable = true;
  /** Number of steps that were decided. */
  runs = 0;
  readonly #cells = new Map<string, Cell>();
  readonly #sinceUs = new Map<string, number>();
  readonly #reducers: Readonly<Record<RuleKind, RuleReducer>>;

  constructor(nowUs = 1_800_000_000_000_000, reducers = RULE_REDUCERS) {
    this.nowUs = nowUs;
    this.#reducers = reducers;
  }

  advance(us: number): void {
    this.nowUs += us;
  }

  ready(): (text: string) => string {
    return hash;
  }

  async run<T>(plan: MemoryPlan<T>): Promise<T> {
    return this.runNow(plan);
  }

  runNow<T>(plan: MemoryPlan<T>): T {
    this.runs += 1;
    const { namespace, agent, sessionId, stepId } = plan.identity;
    const stepHash = stepId === null ? null : hash(JSON.stringify([namespace, agent, sessionId, stepId]));
    const cellOf = (key: MemoryKey): Cell | undefined => this.#cells.get(cellId(namespace, key));
    const marked = (mark: string, key: MemoryKey): boolean =>
      stepHash !== null && cellOf(key)?.marks.has(`${mark} ${stepHash}`) === true;
    const { stepDigest = null } = plan;
    const hasOther = (key: MemoryKey): boolean =>
      stepDigest !== null && cellOf(key)?.digests.get(stepHash ?? '') !== stepDigest;
    // Later than every entry of the keys.
    for (const key of plan.keys) this.nowUs = Math.max(this.nowUs, (cellOf(key)?.atUs ?? 0) + 1);
    const nowUs = this.nowUs;
    for (const rule of plan.ruleIds) {
      const id = JSON.stringify([namespace, rule]);
      if (!this.#sinceUs.has(id)) this.#sinceUs.set(id, nowUs);
    }
    const view: MemoryView = {
      source: this.isAvailable ? 'store' : 'local',
      nowUs,
      stepHash,
      hash,
      state: (key, _kind, ruleId) => structuredClone(cellOf(key)?.states.get(ruleId)?.state),
      isRepeated: (key) => marked(plan.stage, key) && !hasOther(key),
      isReused: (key) => marked(plan.stage, key) && hasOther(key),
      isDamaged: () => false,
      isFull: () => false,
      wasDenied: plan.keys.some((key) => marked('denied', key)),
      sinceUs: (rule) => this.#sinceUs.get(JSON.stringify([namespace, rule])) ?? null,
    };
    const { value, allowed, additions } = plan.decide(view);
    if (plan.isTrial) return value;
    for (const { key, kind, ruleId, delta, isLocal } of additions) {
      if (!this.isAvailable && !isLocal) continue;
      const cell = this.#cellFor(namespace, key);
      const { apply, prune } = this.#reducers[kind];
      const known = cell.states.get(ruleId)?.state;
      const grown = apply(known, structuredClone(delta), nowUs, stepHash);
      // As a store does with checkpoints: pruned and written as JSON.
      const state = prune(JSON.parse(JSON.stringify(grown)) as RuleState, nowUs);
      cell.states.set(ruleId, { kind, state });
      cell.atUs = nowUs;
    }
    if (stepHash !== null) {
      for (const key of plan.keys) {
        const { marks, digests } = this.#cellFor(namespace, key);
        if (allowed) {
          if (stepDigest !== null) digests.set(stepHash, stepDigest);
          marks.add(`${plan.stage} ${stepHash}`);
          marks.delete(`denied ${stepHash}`);
        } else if (plan.marksDenied && plan.stage === 'pre') marks.add(`denied ${stepHash}`);
      }
    }
    return value;
  }

  /** What is kept for a key by a rule. */
  stateOf(namespace: string, key: MemoryKey, ruleId: string): RuleState | undefined {
    return this.#cells.get(cellId(namespace, key))?.states.get(ruleId)?.state;
  }

  #cellFor(namespace: string, key: MemoryKey): Cell {
    const id = cellId(namespace, key);
    let cell = this.#cells.get(id);
    if (cell === undefined) {
      cell = { states: new Map(), marks: new Set(), digests: new Map(), atUs: 0 };
      this.#cells.set(id, cell);
    }
    return cell;
  }
}

function cellId(namespace: string, { parts }: MemoryKey): string {
  return JSON.stringify([namespace, ...parts]);
}

/** In place of the keyed hash of a store. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
