/** A probe without an answer after this time, in milliseconds, means that the database is down. */
export const PROBE_LIMIT_MS = 3_000;
/** Least time between two probes, in milliseconds, however many failures request one. */
const MIN_GAP_MS = 100;
/**
 * Most probes beyond their limit that may still be waiting for the driver: one on a dead connection must not
 * prevent the next from finding that the database is back, and drivers time out after some ten intervals.
 */
const MAX_ABANDONED = 12;

export interface ProbesOptions {
  /** Probes, and uses the result. Never rejects. */
  readonly probe: () => Promise<void>;
  /** Called when a probe has no answer within its limit. */
  readonly noAnswer: () => void;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Probes of the storage, one at a time; one beyond its limit is left behind. */
export class Probes {
  readonly #options: ProbesOptions;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;
  #abandoned = 0;
  #soon: NodeJS.Timeout | undefined;

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  /** No probe that was asked for begins any more. */
  cancel(): void {
    clearTimeout(this.#soon);
  }

  soon(): void {
    if (this.#soon !== undefined) return;
    const delayMs = Math.max(0, this.#probedAtMs + MIN_GAP_MS - this.#options.now());
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      this.now();
    }, delayMs);
    this.#soon.unref();
  }

  now(): void {
    if (this.#isProbing || this.#abandoned >= MAX_ABANDONED) return;
    this.#isProbing = true;
    const { probe, noAnswer, now } = this.#options;
    this.#probedAtMs = now();
    let isAnswered = false;
    let isAbandoned = false;
    const silent = (): void => {
      if (isAnswered) return;
      isAbandoned = true;
      this.#abandoned += 1;
      this.#isProbing = false;
      noAnswer();
    };
    // An answer that arrived while this process was busy is handled first.
    const limit = setTimeout(() => setImmediate(silent), PROBE_LIMIT_MS);
    limit.unref();
    probe().finally(() => {
      isAnswered = true;
      clearTimeout(limit);
      if (isAbandoned) this.#abandoned -= 1;
      else this.#isProbing = false;
    });
  }
}
