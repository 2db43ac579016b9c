const DAY_US = 86_400_000_000n;
/** Times further away share a partition, so that a batch has few. */
const MONTHS_FROM_US = 400n * DAY_US;
const MONTHS_TO_US = 40n * DAY_US;
const BEFORE = 0;
const AFTER = 999_912;

/**
 * The partition of a row when it is first stored: the month of its time in UTC, as 202611, or one for all times that
 * are long past or far away. A partition is deleted as a whole when all of its rows are too old.
 */
export function partitionOf(timeUs: bigint, nowMs: number): number {
  const ageUs = BigInt(nowMs) * 1_000n - timeUs;
  if (ageUs > MONTHS_FROM_US) return BEFORE;
  if (ageUs < -MONTHS_TO_US) return AFTER;
  return monthOf(timeUs);
}

/** The month of a time in UTC, as 202611. */
export function monthOf(timeUs: bigint): number {
  const date = new Date(Number(timeUs / 1_000n));
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}
