/** Most rows that are drawn in a second. */
export const ROWS_A_SECOND = 10;
/** Most rows that wait to be drawn: those of five seconds. */
export const MAX_WAITING = 5 * ROWS_A_SECOND;

/** What is drawn next. */
export interface DrawnRows<T> {
  /** In the order of their arrival. */
  readonly rows: readonly T[];
  /** Number of older ones that are not drawn. */
  readonly skipped: number;
}

/**
 * Rows that wait to be drawn. Of more than can be drawn in time, the oldest are only counted, so that what is drawn is
 * never late by more than a few seconds, and memory is bounded.
 */
export class RowQueue<T> {
  #waiting: T[] = [];
  #skipped = 0;
  #credit = ROWS_A_SECOND;
  #at = 0;

  /** Number of rows that are neither drawn nor counted as skipped. */
  get waiting(): number {
    return this.#waiting.length + this.#skipped;
  }

  push(rows: readonly T[]): void {
    const all = this.#waiting.length === 0 ? [...rows] : [...this.#waiting, ...rows];
    const excess = Math.max(0, all.length - MAX_WAITING);
    this.#skipped += excess;
    this.#waiting = all.slice(excess);
  }

  /** The rows that may be drawn at this time, at most ten for each second. */
  take(nowMs: number): DrawnRows<T> {
    this.#credit = Math.min(ROWS_A_SECOND, this.#credit + ((nowMs - this.#at) * ROWS_A_SECOND) / 1_000);
    this.#at = nowMs;
    const count = Math.min(this.#waiting.length, Math.floor(this.#credit));
    this.#credit -= count;
    const drawn = { rows: this.#waiting.slice(0, count), skipped: count === 0 ? 0 : this.#skipped };
    this.#waiting = this.#waiting.slice(count);
    if (count > 0) this.#skipped = 0;
    return drawn;
  }
}
