import { createMemory } from '../../../../src/decide/memory/memory.js';
import { createProcessStore } from '../../../../src/decide/memory/process/process-store.js';
import type { StepMemory } from '../../../../src/kernel/core/memory.js';
import { LONGEST_US } from '../../../../src/kernel/evaluators/memory/duration.js';
import { RULE_REDUCERS } from '../../../../src/kernel/evaluators/memory/memory-evaluators.js';

/** Bounds of a memory that one case or one command fills. */
const MAX_KEYS = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** The memory of the service, empty, in this process, by the clock of the caller: milliseconds since 1970. */
export function createVirtualMemory(nowMs: () => number): StepMemory {
  const us = (): number => nowMs() * 1_000;
  return createMemory({
    openStore: async () => createProcessStore({ clockUs: us }),
    reducers: RULE_REDUCERS,
    timeoutMs: TIMEOUT_MS,
    maxWindowMs: LONGEST_US / 1_000,
    maxKeys: MAX_KEYS,
    maxBytes: MAX_BYTES,
    log: { told() {}, failed() {} },
    meter: { exchanged() {}, conflicted() {}, failed() {}, degraded() {}, swept() {}, refused() {} },
    // Its clock stands still while it works: nothing expires by itself, and a store in the process answers at once.
    times: { monotonicUs: us, wallUs: us, after: () => () => {} },
  });
}
