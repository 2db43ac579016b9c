/** Interval between attempts, in milliseconds. */
const RETRY_MS = 1_000;

export interface OutrunOptions {
  /** Moves the revision of the database past `told`. */
  readonly outrun: (told: number) => Promise<unknown>;
  /** Called when it has been moved. */
  readonly onDone: () => void;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/**
 * Moves the revision of a restored database past every revision that callers may have received, so that none
 * has two meanings.
 */
export class Outrun {
  readonly #options: OutrunOptions;
  /** The latest revision known before the database was restored; 0 once it is outrun. */
  #told = 0;
  #isRunning = false;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutrunOptions) {
    this.#options = options;
  }

  /** Callers may have received this revision. */
  add(told: number): void {
    this.#told = Math.max(this.#told, told);
  }

  /** Makes an attempt if one is due. Not awaited: polls continue, and the next one calls this again. */
  attempt(): void {
    const nowMs = this.#options.now();
    if (this.#told === 0 || this.#isRunning || nowMs < this.#lastAtMs + RETRY_MS) return;
    this.#isRunning = true;
    this.#lastAtMs = nowMs;
    const told = this.#told;
    this.#options
      .outrun(told)
      .then(
        () => {
          if (this.#told === told) this.#told = 0;
          this.#options.onDone();
        },
        () => {},
      )
      .finally(() => {
        this.#isRunning = false;
      });
  }
}
