import { type EventTime, utcTime } from './event-time.js';
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

/** Lengths of buckets of a range that is not one of these, in seconds: they are round, and each at most three times the one before. */
const ROUND_BUCKETS = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  3 * DAY,
  7 * DAY,
] as const;
/** Most buckets of such a range. */
const MAX_BUCKETS = 60;
/** Minutes further back may be gone. They are kept for a day more, so that clocks of several processes may differ. */
const MINUTES_KEPT_S = 7 * DAY;

/** The range that a caller asks for: one that ends now, or one from a time to another, in microseconds since 1970. */
export type StatisticsRange =
  | { readonly name: TimeRange }
  | { readonly name: 'custom'; readonly startUs: bigint; readonly endUs: bigint };

/** The range of a request whose members were checked: the last five minutes if there are none. */
export function rangeOf(request: {
  readonly time_range?: TimeRange | undefined;
  readonly start_time?: Pick<EventTime, 'us'> | undefined;
  readonly end_time?: Pick<EventTime, 'us'> | undefined;
}): StatisticsRange {
  const { time_range: name = '5m', start_time: start, end_time: end } = request;
  if (start === undefined || end === undefined) return { name };
  return { name: 'custom', startUs: start.us, endUs: end.us };
}

/** Longest range from a time to another, in days. */
export const MAX_RANGE_DAYS = 366;

/**
 * The time window of statistics: everything from `startS`, divided into buckets up to `bucketsEndS`. All in
 * seconds since 1970, and multiples of the unit.
 */
export interface TimeWindow {
  readonly startS: number;
  /** Exclusive; undefined when it ends now. */
  readonly endS?: number;
  readonly unitS: number;
  readonly bucketS: number;
  readonly buckets: number;
  /** Later events are in no bucket: those of the future, and of a remainder that fills no bucket. */
  readonly bucketsEndS: number;
}

/** The window of any range. Units and buckets are not shorter than `finestS`. */
export function windowOf(range: StatisticsRange, nowMs: number, finestS = 1): TimeWindow {
  return 'startUs' in range ? customWindow(range, nowMs) : timeWindow(range.name, nowMs, finestS);
}

/**
 * The window of a range that ends now. It starts with the first unit that is wholly within the range, so that
 * the latest events are in its last bucket: the window is up to a second, a minute or an hour shorter than
 * the range.
 */
export function timeWindow(range: TimeRange, nowMs: number, finestS = 1): TimeWindow {
  const [length, ...lengths] = RANGES[range];
  const [bucketS, unitS] = lengths.map((one) => Math.max(one, finestS)) as [number, number];
  const startS = Math.ceil((nowMs / 1000 - length) / unitS) * unitS;
  const buckets = Math.floor(length / bucketS);
  return { startS, unitS, bucketS, buckets, bucketsEndS: startS + buckets * bucketS };
}

/** The window from a time to another. It has all units of which some part is within. */
function customWindow(
  range: { readonly startUs: bigint; readonly endUs: bigint },
  nowMs: number,
): TimeWindow {
  const startS = wholeUnits(Number(range.startUs) / 1e6, nowMs, Math.floor);
  const endS = wholeUnits(Number(range.endUs) / 1e6, nowMs, Math.ceil);
  const fits = (bucketS: number) =>
    bucketS >= unitAt(startS, nowMs) && endS - startS <= MAX_BUCKETS * bucketS;
  const bucketS = ROUND_BUCKETS.find(fits) ?? 7 * DAY;
  const buckets = Math.ceil((endS - startS) / bucketS);
  const unitS = Math.min(unitAt(startS, nowMs), unitAt(endS, nowMs));
  return { startS, endS, unitS, bucketS, buckets, bucketsEndS: startS + buckets * bucketS };
}

/** Length of the shortest unit that is certainly kept of a time. */
function unitAt(atS: number, nowMs: number): number {
  return atS < nowMs / 1000 - MINUTES_KEPT_S ? HOUR : MINUTE;
}

/** A time, rounded to a unit that is certainly kept of it. */
function wholeUnits(atS: number, nowMs: number, round: (units: number) => number): number {
  const unitS = unitAt(atS, nowMs);
  return round(atS / unitS) * unitS;
}

/** What is as long as a range and ends where its window starts; rounded as the start of a range that is asked for. */
export function previousStart(range: StatisticsRange, { startS, endS }: TimeWindow, nowMs: number): number {
  const lengthS = 'startUs' in range ? (endS ?? startS) - startS : RANGES[range.name][0];
  return wholeUnits(startS - lengthS, nowMs, Math.floor);
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
  const { endS = FOREVER_S } = window;
  if (!byBucket) return cover(null, window.startS, endS, units);
  const parts = Array.from({ length: window.buckets }, (_, bucket) => {
    const fromS = window.startS + bucket * window.bucketS;
    return cover(bucket, fromS, Math.min(fromS + window.bucketS, endS), units);
  });
  return [...parts.flat(), ...cover(null, window.bucketsEndS, endS, units)];
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
