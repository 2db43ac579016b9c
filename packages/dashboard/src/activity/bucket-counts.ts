import type { StatsBucket, StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';

/** What is counted in an interval, from the bottom of a bar to its top. */
export const LAYERS = ['deny', 'error', 'steer', 'observe', 'allow'] as const;
export type Layer = (typeof LAYERS)[number];

/** The counts of one interval. */
export interface IntervalCounts {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly counts: Readonly<Record<Layer, number>>;
  /** Recorded checks, also those without a match. */
  readonly checks: number;
}

/** Least length of an interval after the buckets, in milliseconds, and as a share of all of them. */
const LEAST_REST_MS = 3_600_000;
const LEAST_REST_SHARE = 0.01;

type Totals = Pick<StatsTotals, 'errorTotal' | 'actionTotals' | 'executionTotal'>;
type Bucket = Totals & Pick<StatsBucket, 'timestamp'>;

/**
 * The intervals of a time series, all as long as the first. The server counts the end of some ranges in no bucket,
 * because it fills none: what the totals have beyond the buckets is a last interval, which ends at `nowMs`.
 */
export function intervalsOf(
  { timeseries, ...totals }: Totals & { readonly timeseries: readonly Bucket[] },
  nowMs: number,
): IntervalCounts[] {
  const starts = timeseries.map(({ timestamp }) => Date.parse(timestamp));
  const [first = nowMs, second = nowMs] = starts;
  const length = Math.max(0, second - first);
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
    // Recorded checks without a match say nothing of what became of their steps.
    allow: 0,
  };
}

/** Height of the bar of an interval. */
export function barTotal({ counts }: IntervalCounts): number {
  return LAYERS.reduce((sum, layer) => sum + counts[layer], 0);
}

/** What the layers are called. */
export type LayerWords = Partial<Readonly<Record<Layer, string>>>;

/** The counts of an interval in words, for example `3 deny, 1 error`. */
export function countsText(interval: IntervalCounts, words: LayerWords = {}): string {
  const parts = LAYERS.filter((layer) => interval.counts[layer] > 0).map(
    (layer) => `${interval.counts[layer].toLocaleString('en')} ${words[layer] ?? layer}`,
  );
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
