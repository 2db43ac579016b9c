import type { ControlSums, Statistics, Sums } from './statistics-store.js';
import { bucketStart, type TimeWindow } from './time-range.js';

const NOTHING: Sums = {
  executions: 0,
  matches: 0,
  nonMatches: 0,
  errors: 0,
  denies: 0,
  steers: 0,
  observes: 0,
  confidenceSum: 0,
  durationSum: 0,
  durations: 0,
};
const FIGURES = Object.keys(NOTHING) as (keyof Sums)[];

/** Totals over all buckets; also by bucket when a window is given. */
export function totals({ buckets }: Statistics, window: TimeWindow | null): object {
  const sums: Record<keyof Sums, number> = { ...NOTHING };
  for (const bucket of buckets.values()) {
    for (const figure of FIGURES) sums[figure] += bucket[figure];
  }
  return { ...counts(sums), timeseries: window === null ? null : timeseries(buckets, window) };
}

function timeseries(buckets: Statistics['buckets'], window: TimeWindow): object[] {
  return Array.from({ length: window.buckets }, (_, index) => {
    const sums = buckets.get(index) ?? NOTHING;
    return {
      timestamp: bucketStart(window, index),
      ...counts(sums),
      avg_confidence: sums.executions === 0 ? null : sums.confidenceSum / sums.executions,
      avg_duration_ms: averageDuration(sums),
    };
  });
}

/** A control in a reply. */
export function controlStats(sums: ControlSums): object {
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
    avg_confidence: sums.executions === 0 ? 0 : sums.confidenceSum / sums.executions,
    avg_duration_ms: averageDuration(sums),
  };
}

/** An agent in a reply. */
export function agentStats({ agentName, ...sums }: Statistics['agents'][number]): object {
  return { agent_name: agentName, ...counts(sums) };
}

function counts(sums: Sums): object {
  return {
    execution_count: sums.executions,
    match_count: sums.matches,
    non_match_count: sums.nonMatches,
    error_count: sums.errors,
    action_counts: {
      ...(sums.denies > 0 ? { deny: sums.denies } : {}),
      ...(sums.steers > 0 ? { steer: sums.steers } : {}),
      ...(sums.observes > 0 ? { observe: sums.observes } : {}),
    },
  };
}

function averageDuration({ durations, durationSum }: Sums): number | null {
  return durations === 0 ? null : durationSum / durations;
}
