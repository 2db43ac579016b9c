import type { RuleReducer } from '../../core/memory.js';

/** See `RuleReducer`. */
export const concurrencyReducer: RuleReducer = {
  apply: (state) => state ?? {},
  prune: () => undefined,
  used: () => 0,
};
