import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ConfigWarning, Evaluator } from '../../core/evaluator.js';
import { type HistoryConfig, historySchema } from './history-config.js';
import { historyRule } from './history-rule.js';
import { historyWarnings, isNeverTrue } from './history-warnings.js';
import { createMemoryEvaluator, type MemoryEvaluatorsOptions } from './memory-evaluator.js';

/** States what must, or must not, have happened in earlier steps. */
export function createHistoryEvaluator({ maxWindowMs }: MemoryEvaluatorsOptions): Evaluator {
  const configSchema = historySchema(maxWindowMs * 1_000);
  return createMemoryEvaluator<HistoryConfig>({
    name: 'history',
    version: '1.0.0',
    description:
      'Matches when a statement about earlier steps of a key is true: what happened, in which order, how often.',
    configSchema,
    ruleOf: historyRule,
    warningsFor: (config: JsonObject): Iterable<ConfigWarning> => historyWarnings(configSchema.parse(config)),
    isNever: (config) => isNeverTrue(configSchema.parse(config)),
  });
}
