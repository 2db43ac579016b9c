import { createMemory, type MemoryOptions, type WatchedMemory } from '../../../src/decide/memory/memory.js';
import type { MemoryMeter } from '../../../src/decide/memory/memory-meter.js';
import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import type { MemoryStore } from '../../../src/decide/memory/store/memory-store.js';
import type { MemoryTimes } from '../../../src/decide/memory/store-link.js';
import type {
  MemoryKey,
  MemoryPlan,
  RuleKind,
  RuleReducer,
  StepIdentity,
} from '../../../src/kernel/core/memory.js';

/** Counts: the state is a number, and every delta is added to it. */
export const counting: RuleReducer = {
  apply: (state, delta) => Number(state ?? 0) + Number(delta),
  prune: (state) => state,
  used: (state) => Math.min(1, Number(state) / 10),
};
export const COUNTERS: Readonly<Record<RuleKind, RuleReducer>> = {
  history: counting,
  rate: counting,
  budget: counting,
  concurrency: counting,
  loop: counting,
};
export const RULE = 'b.count';
export const KEEP_US = 3_600_000_000;

/** A virtual monotonic clock with timers, which `advance` moves. */
export class VirtualTimes implements MemoryTimes {
  us = 1_000_000;
  readonly #timers = new Set<{ readonly atUs: number; readonly then: () => void }>();

  monotonicUs = (): number => this.us;
  wallUs = (): number => 0;

  after(ms: number, then: () => void): () => void {
    const timer = { atUs: this.us + ms * 1_000, then };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves on by timers, each at its time, and lets what waits for them happen. */
  async advance(ms: number): Promise<void> {
    const endUs = this.us + ms * 1_000;
    for (;;) {
      await settled();
      const due = [...this.#timers].filter(({ atUs }) => atUs <= endUs);
      const [first] = due.sort((left, right) => left.atUs - right.atUs);
      if (first === undefined) break;
      this.#timers.delete(first);
      this.us = Math.max(this.us, first.atUs);
      first.then();
    }
    this.us = endUs;
    await settled();
  }
}

/** Lets everything happen that waits for no timer. */
export async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export interface Counts extends MemoryMeter {
  exchanges: number;
  largest: number;
  conflicts: number;
  failures: number;
  local: number;
  keysRefused: number;
}

export function countingMeter(): Counts {
  return {
    exchanges: 0,
    largest: 0,
    conflicts: 0,
    failures: 0,
    local: 0,
    keysRefused: 0,
    exchanged(_seconds, steps) {
      this.exchanges += 1;
      this.largest = Math.max(this.largest, steps);
    },
    conflicted(steps) {
      this.conflicts += steps;
    },
    failed() {
      this.failures += 1;
    },
    degraded(_kind, steps) {
      this.local += steps;
    },
    swept() {},
    refused(keys) {
      this.keysRefused += keys;
    },
  };
}

export interface EngineOptions extends Partial<MemoryOptions> {
  readonly store?: MemoryStore;
  readonly virtual?: VirtualTimes;
}

export interface Engine {
  readonly memory: WatchedMemory;
  readonly counts: Counts;
  readonly lines: string[];
}

/** A memory as one process has it. Processes share `store`. */
export function engine({ store, virtual, ...options }: EngineOptions = {}): Engine {
  const counts = countingMeter();
  const lines: string[] = [];
  const kept = store ?? createProcessStore({ clockUs: () => 1.7e15 + performance.now() * 1_000 });
  const memory = createMemory({
    openStore: async () => kept,
    reducers: COUNTERS,
    // Of times that a test lets pass, or more than a busy machine needs.
    timeoutMs: virtual === undefined ? 300_000 : 2_000,
    maxWindowMs: 24 * 3_600_000,
    maxKeys: 1_000_000,
    maxBytes: 2 ** 30,
    log: {
      told: (level, kind) => void lines.push(`${level} ${kind}`),
      failed: (kind) => void lines.push(`warn ${kind}`),
    },
    meter: counts,
    ...(virtual === undefined ? {} : { times: virtual }),
    ...options,
  });
  return { memory, counts, lines };
}

export const key = (name: string): MemoryKey => ({ parts: ['test', name], label: name });

export function identity(stepId: string | null = null): StepIdentity {
  return { namespace: 'default', agent: 'agent', sessionId: 'session', stepId, error: null };
}

/** Counts under keys, up to a limit for each; the value tells whether the step was allowed. */
export function limited(
  limit: number,
  keys: readonly MemoryKey[],
  stepId: string | null = null,
): MemoryPlan<boolean> {
  return {
    identity: identity(stepId),
    stage: 'pre',
    keys,
    ruleIds: [RULE],
    marksDenied: false,
    isTrial: false,
    decide(view) {
      if (keys.some((each) => view.isDamaged(each))) throw new Error('damaged');
      if (keys.some((each) => view.isFull(each))) return { value: false, allowed: false, additions: [] };
      const isRepeated = keys.every((each) => view.isRepeated(each));
      const counts = keys.map((each) => Number(view.state(each, 'budget', RULE) ?? 0));
      if (isRepeated) return { value: true, allowed: true, additions: [] };
      if (view.source === 'local' || counts.some((count) => count >= limit)) {
        return { value: false, allowed: false, additions: [] };
      }
      return { value: true, allowed: true, additions: keys.map((each) => one(each)) };
    },
  };
}

export function one(each: MemoryKey, isLocal = false) {
  return { key: each, kind: 'budget', ruleId: RULE, delta: 1, keepUs: KEEP_US, isLocal } as const;
}

/** What is counted under a key. */
export async function countOf(memory: WatchedMemory, each: MemoryKey): Promise<number> {
  const kept = await memory.readKey('default', each);
  return Number(kept?.rules.find(({ ruleId }) => ruleId === RULE)?.state ?? 0);
}
