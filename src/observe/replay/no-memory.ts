import { createHmac, randomBytes } from 'node:crypto';
import type { MemoryView, StepMemory } from '../../kernel/core/memory.js';

const HASH_LENGTH = 22;
const US_PER_MS = 1_000;

/** A memory in which nothing is kept of any step, and that keeps nothing. `now`: milliseconds since 1970. */
export function createNoMemory(now: () => number): StepMemory {
  const key = randomBytes(32);
  const hash = (text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH);
  return {
    ready: () => hash,
    async run(plan) {
      const view: MemoryView = {
        source: 'store',
        nowUs: now() * US_PER_MS,
        stepHash: null,
        hash,
        state: () => undefined,
        isRepeated: () => false,
        isReused: () => false,
        isDamaged: () => false,
        isFull: () => false,
        wasDenied: false,
        sinceUs: () => null,
      };
      return plan.decide(view).value;
    },
  };
}
