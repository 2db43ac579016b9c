import { nameOfKey } from '../../contract/call/namespace.js';
import { addCounts } from './store/count.js';
import type { NamedSums, Statistics, Sums } from './store/event-statistics.js';
import { SUMS, sumsOf } from './store/rollup-sums.js';
import { bucketStart, type TimeWindow } from './store/time-range.js';

const NOTHING = sumsOf(SUMS.map(() => 0));
const COUNTS = ['executions', 'matches', 'nonMatches', 'errors', 'denies', 'steers', 'observes'] as const;

/** Totals over all buckets; also by bucket when a window is given. */
export function totals({ buckets }: Statistics, window: TimeWindow | null): object {
  const sums = { ...NOTHING } as { -readonly [Figure in keyof Sums]: Sums[Figure] };
  for (const bucket of buckets.values()) {
    for (const figure of COUNTS) sums[figure] = addCounts(sums[figure], bucket[figure]);
  }
  return {
    ...counts(sums),
    timeseries: window === null ? null : timeseries(buckets, window),
    bucket_seconds: window === null ? 0 : window.bucketS,
  };
}

function timeseries(buckets: Statistics['buckets'], window: TimeWindow): object[] {
  return Array.from({ length: window.buckets }, (_, index) => {
    const sums = buckets.get(index) ?? NOTHING;
    return {
      timestamp: bucketStart(window, index),
      ...counts(sums),
      avg_confidence: sums.executions === 0 ? null : averageConfidence(sums),
      avg_duration_ms: averageDuration(sums),
    };
  });
}

/** A control in a reply. */
export function controlStats(sums: NamedSums): object {
  return {
    control_id: sums.controlId,
    control_name: sums.controlName,
    execution_count: sums.executions,
    match_count: sums.matches,
    non_match_count: sums.nonMatches,
    deny_count: sums.denies,
    steer_count: sums.steers,
    observe_count: sums.observes,
    error_count: sums.errors,
    execution_total: sums.executions,
    match_total: sums.matches,
    non_match_total: sums.nonMatches,
    deny_total: sums.denies,
    steer_total: sums.steers,
    observe_total: sums.observes,
    error_total: sums.errors,
    avg_confidence: sums.executions === 0 ? 0 : averageConfidence(sums),
    avg_duration_ms: averageDuration(sums),
  };
}

/** An agent in a reply. */
export function agentStats({ agentName, ...sums }: Statistics['agents'][number]): object {
  return { agent_name: nameOfKey(agentName), ...counts(sums) };
}

/** Every count, and once more for the members that are exact over RPCs. */
function counts(sums: Sums): object {
  const actions = {
    ...(sums.denies > 0 ? { deny: sums.denies } : {}),
    ...(sums.steers > 0 ? { steer: sums.steers } : {}),
    ...(sums.observes > 0 ? { observe: sums.observes } : {}),
  };
  return {
    execution_count: sums.executions,
    match_count: sums.matches,
    non_match_count: sums.nonMatches,
    error_count: sums.errors,
    action_counts: actions,
    execution_total: sums.executions,
    match_total: sums.matches,
    non_match_total: sums.nonMatches,
    error_total: sums.errors,
    action_totals: actions,
  };
}

function averageConfidence({ confidenceSum, executions }: Sums): number {
  return confidenceSum / Number(executions);
}

function averageDuration({ durations, durationSum }: Sums): number | null {
  return durations === 0 ? null : durationSum / Number(durations);
}
