/** What came of an attempt. */
export interface AttemptResult {
  readonly delivered: boolean;
  /** Of HTTP or SMTP; null without an answer. */
  readonly status: number | null;
  /** What was wrong; null if nothing was. It has nothing of what the destination has sent. */
  readonly error: string | null;
  /** How long the destination asks to wait, in milliseconds; null if it does not. */
  readonly retryAfterMs: number | null;
}

/** An attempt after which the destination does not have the message, as far as is known. */
export function failed(error: string, status: number | null = null, retryAfterMs: number | null = null) {
  return { delivered: false, status, error: error.slice(0, 500), retryAfterMs } satisfies AttemptResult;
}
