import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { LimitState, RuleState } from '../../core/memory.js';
import { amountNumber } from './amounts.js';
import type { HistoryConfig } from './history-config.js';
import { type HistoryPlan, limitOf } from './history-plan.js';
import { historyOf, historyReducer, type Series, sumOf } from './history-reducer.js';
import { keepsFacts } from './history-series.js';
import { timeText } from './limit-answer.js';

/** What is kept for a key, for an administrator: how many events, and since when and until when, without their values. */
export function describeHistory(
  config: HistoryConfig,
  { event }: HistoryPlan,
  state: RuleState,
  nowUs: number,
): { readonly limit: LimitState | null; readonly kept: JsonObject } {
  const pruned = historyReducer.prune(structuredClone(state), nowUs);
  const history = historyOf(pruned);
  const { compare, op, windowUs } = config;
  const limit = compare === null || keepsFacts(event) ? null : limitOf(op, compare);
  const kept: JsonObject = { ...keptOf('event', history?.e), ...keptOf('anchor', history?.a) };
  if (limit === null) return { limit: null, kept };
  const last = history?.e?.k.at(-1)?.[0];
  const used = numberOf(op, history?.e, nowUs - windowUs);
  return {
    limit: {
      limit,
      remaining: Math.max(0, limit - used),
      resetsAfterUs: last === undefined ? null : Math.max(1, last + windowUs + 1 - nowUs),
      retryAfterUs: null,
      windowUs,
    },
    kept,
  };
}

function numberOf(op: HistoryConfig['op'], series: Series | undefined, sinceUs: number): number {
  if (series === undefined) return 0;
  if (op === 'sum') return amountNumber(sumOf(series, sinceUs));
  return op === 'distinct' ? new Set(series.k.map(([, , value]) => value)).size : series.k.length;
}

function keptOf(name: string, series: Series | undefined): JsonObject {
  const [first, last] = [series?.k[0]?.[0], series?.k.at(-1)?.[0]];
  if (series === undefined || first === undefined || last === undefined) return {};
  return {
    [`${name}s`]: series.k.length,
    [`first_${name}_at`]: timeText(first),
    [`last_${name}_at`]: timeText(last),
  };
}
