import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../core/evaluator.js';
import { RULE_KINDS, type RuleKind, type RuleReducer } from '../../core/memory.js';
import { isSelectorPath } from '../../core/selector.js';
import { createBudgetEvaluator } from './budget.js';
import { budgetReducer } from './budget-state.js';
import { createConcurrencyEvaluator } from './concurrency.js';
import { concurrencyReducer } from './concurrency-state.js';
import { createHistoryEvaluator } from './history.js';
import { historyReducer } from './history-reducer.js';
import { createLoopEvaluator } from './loop.js';
import { loopReducer } from './loop-state.js';
import type { MemoryEvaluatorsOptions } from './memory-evaluator.js';
import { createRateEvaluator } from './rate.js';
import { rateReducer } from './rate-state.js';

const ofWindow = new Map<number, readonly Evaluator[]>();

/**
 * The evaluators whose checks depend on earlier steps. They have no state, and their schemas take long to make: all callers
 * with the same options share them. Windows come from the configuration, so that these are few.
 */
export function memoryEvaluators(options: MemoryEvaluatorsOptions): readonly Evaluator[] {
  const { maxWindowMs } = options;
  const known = ofWindow.get(maxWindowMs);
  if (known !== undefined) return known;
  const made = [
    createHistoryEvaluator(options),
    createRateEvaluator(options),
    createBudgetEvaluator(options),
    createConcurrencyEvaluator(options),
    createLoopEvaluator(options),
  ];
  ofWindow.set(maxWindowMs, made);
  return made;
}

/** How the states of all rules grow. */
export const RULE_REDUCERS: Readonly<Record<RuleKind, RuleReducer>> = {
  history: historyReducer,
  rate: rateReducer,
  budget: budgetReducer,
  concurrency: concurrencyReducer,
  loop: loopReducer,
};

/** A path that a check with memory reads of a step, and its place in the configuration. */
interface ConfigPath {
  readonly path: string;
  /** Such as `key[0]`. */
  readonly place: string;
}

/** Members of configurations that are paths, or lists of them. Other texts in them are no paths. */
const MEMBERS = ['key', 'by', 'amount', 'reserve', 'settle', 'value'];

/** The paths that a configuration of an evaluator with memory names; none for other evaluators. */
export function* configPaths(evaluatorName: string, config: JsonObject): Generator<ConfigPath, void> {
  if (!(RULE_KINDS as readonly string[]).includes(evaluatorName)) return;
  for (const member of MEMBERS) {
    // The value of `history` is one of earlier events, whose steps need not be in the scope.
    if (evaluatorName === 'history' && member === 'value') continue;
    const value = config[member];
    if (typeof value === 'string' && isSelectorPath(value)) yield { path: value, place: member };
    if (!Array.isArray(value)) continue;
    for (const [index, part] of value.entries()) {
      if (typeof part === 'string' && isSelectorPath(part))
        yield { path: part, place: `${member}[${index}]` };
    }
  }
}
