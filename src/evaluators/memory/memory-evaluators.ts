import type { Evaluator } from '../../core/evaluator.js';
import { createBudgetEvaluator } from './budget.js';
import { createConcurrencyEvaluator } from './concurrency.js';
import { createHistoryEvaluator } from './history.js';
import { createLoopEvaluator } from './loop.js';
import type { MemoryEvaluatorsOptions } from './memory-evaluator.js';
import { createRateEvaluator } from './rate.js';

/** The evaluators whose checks depend on earlier steps. */
export function memoryEvaluators(options: MemoryEvaluatorsOptions): readonly Evaluator[] {
  return [
    createHistoryEvaluator(options),
    createRateEvaluator(options),
    createBudgetEvaluator(options),
    createConcurrencyEvaluator(options),
    createLoopEvaluator(options),
  ];
}
