/** Upper bound of the first pause. */
const FIRST_PAUSE_MS = 25;
/** Upper bound of every pause: a service that is back is noticed within this time. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * How long to wait before the next attempt: a random time up to a bound that doubles with each failure, so that
 * clients which lost the same server do not come back at the same moment ("full jitter"). `failures` counts from 0;
 * `atLeastMs` is what the service asked for.
 */
export function pauseMs(failures: number, atLeastMs = 0, random: () => number = Math.random): number {
  const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  return Math.min(atLeastMs, LONGEST_PAUSE_MS) + random() * bound;
}
