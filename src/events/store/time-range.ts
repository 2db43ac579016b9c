import { utcTime } from './event-time.js';
import { DAY, HOUR, MINUTE, ROLLUP_LEVELS } from './rollup-levels.js';

/** Length of each range, of its buckets, and of the first unit of its window; in seconds. */
const RANGES = {
  '1m': [MINUTE, 10, 1],
  '5m': [5 * MINUTE, 30, 1],
  '15m': [15 * MINUTE, MINUTE, 1],
  '1h': [HOUR, 5 * MINUTE, 1],
  '24h': [DAY, HOUR, MINUTE],
  '7d': [7 * DAY, 6 * HOUR, MINUTE],
  '30d': [30 * DAY, DAY, HOUR],
  '180d': [180 * DAY, 7 * DAY, HOUR],
  '365d': [365 * DAY, 30 * DAY, HOUR],
} as const;

/** Name of a time range of statistics. */
export type TimeRange = keyof typeof RANGES;
export const TIME_RANGES = Object.keys(RANGES) as TimeRange[];

/**
 * The time window of statistics: everything from `startS`, divided into buckets up to `bucketsEndS`. All in
 * seconds since 1970, and multiples of the unit.
 */
export interface TimeWindow {
  readonly startS: number;
  readonly unitS: number;
  readonly bucketS: number;
  readonly buckets: number;
  /** Later events are in no bucket: those of the future, and of a remainder that fills no bucket. */
  readonly bucketsEndS: number;
}

/**
 * The window of a range that ends now. It starts with the first unit that is wholly within the range, so that
 * the latest events are in its last bucket: the window is up to a second, a minute or an hour shorter than
 * the range.
 */
export function timeWindow(range: TimeRange, nowMs: number): TimeWindow {
  const [length, bucketS, unitS] = RANGES[range];
  const startS = Math.ceil((nowMs / 1000 - length) / unitS) * unitS;
  const buckets = Math.floor(length / bucketS);
  return { startS, unitS, bucketS, buckets, bucketsEndS: startS + buckets * bucketS };
}

/** Start of a bucket, as displayed. */
export function bucketStart({ startS, bucketS }: TimeWindow, bucket: number): string {
  return utcTime(BigInt(startS + bucket * bucketS) * 1_000_000n).text;
}

/** Rollups of one level and of consecutive units, which all belong to one bucket. */
export interface RollupSegment {
  /** Null for rollups in no bucket. */
  readonly bucket: number | null;
  readonly unitS: number;
  readonly fromS: number;
  /** Exclusive. */
  readonly toS: number;
}

/** Later than any event, and a multiple of every unit. */
const FOREVER_S = 10_000_000 * DAY;

/**
 * The rollups of a window, each of them once: units as long as possible between two boundaries, and ever
 * shorter ones towards the boundaries. So a year is read as some hundred days and hours, not as 8,760 hours.
 */
export function segmentsOf(window: TimeWindow, byBucket: boolean): RollupSegment[] {
  const units = ROLLUP_LEVELS.map(({ unitS }) => unitS).filter((unitS) => unitS >= window.unitS);
  if (!byBucket) return cover(null, window.startS, FOREVER_S, units);
  const parts = Array.from({ length: window.buckets }, (_, bucket) => {
    const fromS = window.startS + bucket * window.bucketS;
    return cover(bucket, fromS, fromS + window.bucketS, units);
  });
  return [...parts.flat(), ...cover(null, window.bucketsEndS, FOREVER_S, units)];
}

/** The rollups from `fromS` up to `toS`, both multiples of the first of the units. `units` are in ascending order. */
export function cover(
  bucket: number | null,
  fromS: number,
  toS: number,
  units: readonly number[],
): RollupSegment[] {
  if (fromS >= toS) return [];
  const unitS = units.at(-1) ?? 1;
  const innerFromS = Math.ceil(fromS / unitS) * unitS;
  const innerToS = Math.floor(toS / unitS) * unitS;
  const finer = units.slice(0, -1);
  if (innerFromS >= innerToS) return cover(bucket, fromS, toS, finer);
  return [
    ...cover(bucket, fromS, innerFromS, finer),
    { bucket, unitS, fromS: innerFromS, toS: innerToS },
    ...cover(bucket, innerToS, toS, finer),
  ];
}
