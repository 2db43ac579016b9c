import type { StatsBucket, StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import type { ChartInterval, ChartLayer } from './chart-geometry.js';

/** What is counted in an interval, from the bottom of a bar to its top. */
export const LAYERS = ['deny', 'steer', 'observe', 'error'] as const;
export type Layer = (typeof LAYERS)[number];

/** The layers of a chart of recorded checks. */
export const CHECK_LAYERS: readonly ChartLayer[] = [
  { sign: 'deny', word: 'denied' },
  { sign: 'steer', word: 'steered' },
  { sign: 'observe', word: 'observed' },
  { sign: 'error', word: 'error' },
];

/** The counts of one interval. */
export interface IntervalCounts extends ChartInterval {
  readonly counts: Readonly<Record<Layer, number>>;
  /** Recorded checks, also those without a match. */
  readonly checks: number;
}

/** Least length of an interval after the buckets, in milliseconds, and as a share of all of them. */
const LEAST_REST_MS = 3_600_000;
const LEAST_REST_SHARE = 0.01;

type Totals = Pick<StatsTotals, 'errorTotal' | 'actionTotals' | 'executionTotal'>;
type Series = Totals & { readonly timeseries: readonly Bucket[]; readonly bucketSeconds?: number };
type Bucket = Totals & Pick<StatsBucket, 'timestamp'>;

/**
 * The intervals of a time series, all as long as the first. The server counts the end of some ranges in no bucket,
 * because it fills none: what the totals have beyond the buckets is a last interval, which ends at `nowMs`.
 */
export function intervalsOf(
  { timeseries, bucketSeconds = 0, ...totals }: Series,
  nowMs: number,
): IntervalCounts[] {
  const starts = timeseries.map(({ timestamp }) => Date.parse(timestamp));
  const [first = nowMs, second = nowMs] = starts;
  const length = bucketSeconds > 0 ? bucketSeconds * 1000 : Math.max(0, second - first);
  const intervals = timeseries.map((bucket, index) => {
    const fromMs = starts[index] ?? nowMs;
    return { fromMs, toMs: fromMs + length, counts: countsOf(bucket), checks: Number(bucket.executionTotal) };
  });
  const end = intervals.at(-1)?.toMs ?? nowMs;
  // Below that, only the clocks differ.
  if (nowMs - end < Math.max(LEAST_REST_MS, (end - first) * LEAST_REST_SHARE)) return intervals;
  return [...intervals, { fromMs: end, toMs: nowMs, ...without(totals, intervals) }];
}

function without(totals: Totals, intervals: readonly IntervalCounts[]) {
  const sum = (of: (interval: IntervalCounts) => number) =>
    intervals.reduce((all, interval) => all + of(interval), 0);
  const counts = countsOf(totals);
  for (const layer of LAYERS) counts[layer] -= sum((interval) => interval.counts[layer]);
  return { counts, checks: Number(totals.executionTotal) - sum(({ checks }) => checks) };
}

function countsOf({ actionTotals, errorTotal }: Totals): Record<Layer, number> {
  const matches = (action: string) => Number(actionTotals[action] ?? 0n);
  return {
    deny: matches('deny'),
    steer: matches('steer'),
    observe: matches('observe'),
    error: Number(errorTotal),
  };
}
