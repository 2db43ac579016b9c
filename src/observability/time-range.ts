import { utcTime } from './event-time.js';

const SECOND = 1_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

/** Length of each range and of its buckets, in microseconds. */
const RANGES = {
  '1m': [MINUTE, 10n * SECOND],
  '5m': [5n * MINUTE, 30n * SECOND],
  '15m': [15n * MINUTE, MINUTE],
  '1h': [HOUR, 5n * MINUTE],
  '24h': [DAY, HOUR],
  '7d': [7n * DAY, 6n * HOUR],
  '30d': [30n * DAY, DAY],
  '180d': [180n * DAY, 7n * DAY],
  '365d': [365n * DAY, 30n * DAY],
} as const;

/** Name of a range of time that statistics can cover. */
export type TimeRange = keyof typeof RANGES;
export const TIME_RANGES = Object.keys(RANGES) as TimeRange[];

/** The part of time that statistics look at: everything from `startUs` on, divided into buckets up to `bucketsEndUs`. */
export interface TimeWindow {
  readonly startUs: bigint;
  readonly bucketUs: bigint;
  readonly buckets: number;
  /** Later events are in no bucket: those of the future, and of a remainder that fills no bucket. */
  readonly bucketsEndUs: bigint;
}

/** The window of a range that ends at `nowUs`. */
export function timeWindow(range: TimeRange, nowUs: bigint): TimeWindow {
  const [length, bucketUs] = RANGES[range];
  const startUs = nowUs - length;
  const buckets = length / bucketUs;
  return { startUs, bucketUs, buckets: Number(buckets), bucketsEndUs: startUs + buckets * bucketUs };
}

/** When a bucket starts, as it is shown. */
export function bucketStart({ startUs, bucketUs }: TimeWindow, bucket: number): string {
  return utcTime(startUs + BigInt(bucket) * bucketUs).text;
}
