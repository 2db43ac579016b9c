import type { RuleKind, RuleReducer } from '../../core/memory.js';
import { budgetReducer } from './budget-state.js';
import { concurrencyReducer } from './concurrency-state.js';
import { historyReducer } from './history-reducer.js';
import { loopReducer } from './loop-state.js';
import { rateReducer } from './rate-state.js';

/** How the states of all rules grow. */
export const RULE_REDUCERS: Readonly<Record<RuleKind, RuleReducer>> = {
  history: historyReducer,
  rate: rateReducer,
  budget: budgetReducer,
  concurrency: concurrencyReducer,
  loop: loopReducer,
};
