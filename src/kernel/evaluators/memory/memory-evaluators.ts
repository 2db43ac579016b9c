import type { Evaluator } from '../../core/evaluator.js';
import { createBudgetEvaluator } from './budget.js';
import { createConcurrencyEvaluator } from './concurrency.js';
import { createHistoryEvaluator } from './history.js';
import { createLoopEvaluator } from './loop.js';
import type { MemoryEvaluatorsOptions } from './memory-evaluator.js';
import { createRateEvaluator } from './rate.js';

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
