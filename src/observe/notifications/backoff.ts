/** How long a delivery is tried, in milliseconds. */
export const TRIED_MS = 24 * 3_600_000;
const FIRST_DELAY_MS = 5_000;
const LONGEST_DELAY_MS = 3_600_000;

export interface Failure {
  /** Attempts before the one that failed. */
  readonly attempts: number;
  /** When the first attempt was due, and now: milliseconds since 1970. */
  readonly sinceMs: number;
  readonly nowMs: number;
  /** How long the destination asks to wait; null if it does not. */
  readonly retryAfterMs: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * When the next attempt is due, in milliseconds since 1970; null if there is none. Delays double up to an hour, and vary by half,
 * so that many deliveries that failed together do not come together again. The last attempt is after 24 hours.
 */
export function nextAttemptAt({ attempts, sinceMs, nowMs, retryAfterMs, random }: Failure): number | null {
  const endMs = sinceMs + TRIED_MS;
  if (nowMs >= endMs) return null;
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts, 20));
  const delay = Math.max(longest * (0.5 + random / 2), retryAfterMs ?? 0);
  return Math.min(Math.ceil(nowMs + delay), endMs);
}
