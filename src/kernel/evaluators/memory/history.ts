import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ConfigWarning, Evaluator } from '../../core/evaluator.js';
import { type EventConfig, type HistoryConfig, historySchema } from './history-config.js';
import { historyRule } from './history-rule.js';
import { whereProblems } from './history-where.js';
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

/** Parts of a statement that make it say less than it seems to. */
function* historyWarnings(config: HistoryConfig): Generator<ConfigWarning, void> {
  const { op, event, anchor, value, compare } = config;
  yield* whereWarnings(event, 'event');
  if (anchor !== null) yield* whereWarnings(anchor, 'anchor');
  const { kinds } = event;
  if (
    (op === 'count' || op === 'sum') &&
    kinds.includes('request') &&
    kinds.some((kind) => kind === 'response' || kind === 'error')
  ) {
    const message = 'a step that runs counts twice: as its request and as its response or error';
    yield { code: 'no_effect', path: ['event', 'kinds'], message };
  }
  const isOutput = value !== null && /^output(?:\.|$)/.test(value);
  if (isOutput && kinds.every((kind) => kind === 'request' || kind === 'denied')) {
    const message = 'is missing in every event: requests and denied steps have no output';
    yield { code: 'never_matches', path: ['value'], message };
  }
  if (compare !== null && compare.than === 0n && (compare.op === 'gte' || compare.op === 'lt')) {
    const isAlways = compare.op === 'gte';
    const message = `no number is below 0, so the statement is ${isAlways ? 'always' : 'never'} true`;
    yield { code: isAlways ? 'always_matches' : 'never_matches', path: ['compare', compare.op], message };
  }
}

/** Whether no steps make a statement true. */
function isNeverTrue({ compare }: HistoryConfig): boolean {
  return compare !== null && compare.op === 'lt' && compare.than === 0n;
}

function* whereWarnings(
  { where = [] }: EventConfig,
  member: 'event' | 'anchor',
): Generator<ConfigWarning, void> {
  for (const [index, text] of where.entries()) {
    for (const { code } of whereProblems(text)) {
      if (code === 'always_true') {
        yield { code: 'no_effect', path: [member, 'where', index], message: 'is true for every event' };
      } else if (code === 'always_false') {
        yield { code: 'never_matches', path: [member, 'where', index], message: 'is true for no event' };
      }
    }
  }
}
