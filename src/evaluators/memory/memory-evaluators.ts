import type { Evaluator } from '../../core/evaluator.js';
import type { MemoryEvaluatorsOptions } from './memory-evaluator.js';
import { createRateEvaluator } from './rate.js';

/** The evaluators whose checks depend on earlier steps. */
export function memoryEvaluators(options: MemoryEvaluatorsOptions): readonly Evaluator[] {
  return [createRateEvaluator(options)];
}
