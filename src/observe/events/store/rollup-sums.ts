import { type Count, countOf } from './count.js';
import type { Sums } from './event-statistics.js';

/** The sums of a rollup, in the order of the columns of every store. */
export const SUMS = [
  'executions',
  'matches',
  'non_matches',
  'errors',
  'denies',
  'steers',
  'observes',
  'confidence_nano',
  'durations',
  'duration_high',
  'duration_low',
] as const;
export type Sum = (typeof SUMS)[number];

/** Sums of billionths and nanoseconds, which can exceed 64 bits over many rollups. */
export const WIDE_SUMS: ReadonlySet<Sum> = new Set(['confidence_nano', 'duration_high', 'duration_low']);

/** Reads the values of `SUMS`. */
export function sumsOf(values: readonly (string | number | bigint | boolean | null)[]): Sums {
  const [executions, matches, nonMatches, errors, denies, steers, observes, nano, durations, high, low] =
    values.map(countOf) as [Count, Count, Count, Count, Count, Count, Count, Count, Count, Count, Count];
  return {
    executions,
    matches,
    nonMatches,
    errors,
    denies,
    steers,
    observes,
    confidenceSum: Number(nano) / 1e9,
    durations,
    durationSum: Number(high) * 65_536 + Number(low) / 1e6,
  };
}
