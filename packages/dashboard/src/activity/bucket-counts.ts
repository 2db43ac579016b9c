import type { StatsBucket } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { Sign } from '../shared/decision-badge.js';

/** What is counted in an interval, from the bottom of a bar to its top. */
export const LAYERS = ['deny', 'steer', 'observe', 'error'] as const satisfies readonly Sign[];
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

type Bucket = Pick<StatsBucket, 'timestamp' | 'errorTotal' | 'actionTotals' | 'executionTotal'>;

/** The intervals of a time series. All are as long as the first; a single one ends at `nowMs`. */
export function intervalsOf(buckets: readonly Bucket[], nowMs: number): IntervalCounts[] {
  const starts = buckets.map(({ timestamp }) => Date.parse(timestamp));
  const [first = nowMs, second = nowMs] = starts;
  const length = Math.max(0, second - first);
  return buckets.map((bucket, index) => {
    const fromMs = starts[index] ?? nowMs;
    return { fromMs, toMs: fromMs + length, counts: countsOf(bucket), checks: Number(bucket.executionTotal) };
  });
}

function countsOf({ actionTotals, errorTotal }: Bucket): Record<Layer, number> {
  const matches = (action: string) => Number(actionTotals[action] ?? 0n);
  return {
    deny: matches('deny'),
    steer: matches('steer'),
    observe: matches('observe'),
    error: Number(errorTotal),
  };
}

/** Height of the bar of an interval. */
export function barTotal({ counts }: IntervalCounts): number {
  return LAYERS.reduce((sum, layer) => sum + counts[layer], 0);
}

/** The counts of an interval in words, for example `3 deny, 1 error`. */
export function countsText(interval: IntervalCounts): string {
  const parts = LAYERS.filter((layer) => interval.counts[layer] > 0).map(
    (layer) => `${interval.counts[layer].toLocaleString('en')} ${layer}`,
  );
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
