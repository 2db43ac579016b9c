import type { ChangeSource } from '../../storage/database/change-source.js';

/** Least time between polls, in milliseconds: hints and callers must not flood the database. */
const MIN_POLL_GAP_MS = 10;

export interface PollsOptions {
  readonly poll: () => Promise<void>;
  /** Its time between polls that no caller asks for may change. */
  readonly source: Pick<ChangeSource, 'pollMs'>;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Polls again and again, one after the other, and earlier if it is asked to. */
export class Polls {
  readonly #options: PollsOptions;
  #timer: NodeJS.Timeout | null = null;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | null = null;
  /** A poll was requested while one was running, which may have read too early. */
  #askedAgain = false;
  #lastPollAtMs = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: PollsOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Polls from now on. */
  begin(): void {
    this.#schedule(this.#options.source.pollMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#clearTimer();
  }

  /** Polls once, with a poll that begins after this call. */
  async poll(): Promise<void> {
    while (this.#polling !== null) await this.#polling;
    this.#lastPollAtMs = this.#options.now();
    this.#polling = this.#options.poll().finally(() => {
      this.#polling = null;
    });
    await this.#polling;
  }

  soon(): void {
    if (this.#polling !== null) this.#askedAgain = true;
    else this.#schedule(this.#lastPollAtMs + MIN_POLL_GAP_MS - this.#options.now());
  }

  /** Schedules the next poll in at most `delayMs`. */
  #schedule(delayMs: number): void {
    const waitMs = Math.max(0, delayMs);
    const dueAtMs = this.#options.now() + waitMs;
    if (this.#stopped || dueAtMs >= this.#dueAtMs) return;
    this.#clearTimer();
    this.#dueAtMs = dueAtMs;
    const timer = setTimeout(() => {
      this.#clearTimer();
      void this.poll().finally(() => {
        this.#schedule(this.#options.source.pollMs);
        if (this.#askedAgain) this.soon();
        this.#askedAgain = false;
      });
    }, waitMs);
    timer.unref();
    this.#timer = timer;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }
}
