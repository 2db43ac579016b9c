export interface FollowedStateOptions {
  /** Reads the database and takes what it finds. */
  readonly read: () => Promise<void>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** In milliseconds. */
  readonly now: () => number;
}

/** Least time between two attempts after a failure, in milliseconds; `catchUp` is called about as often. */
const RETRY_MS = 500;

/** Reads again what processes keep in memory, whenever it may have changed: one reading at a time, and one more for later changes. */
export class FollowedState {
  readonly #options: FollowedStateOptions;
  /** Whether something may have changed since the last reading that succeeded began. */
  #isStale: boolean;
  #reading: Promise<void> | null = null;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  /** `isStale`: whether the first `catchUp` reads. */
  constructor(options: FollowedStateOptions, isStale: boolean) {
    this.#options = options;
    this.#isStale = isStale;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  get reading(): Promise<void> | null {
    return this.#reading;
  }

  /** Reads with a reading that begins after this call. Never rejects. */
  readSoon(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Reads now, and rejects if that fails. */
  async readOnce(): Promise<void> {
    this.#isStale = false;
    try {
      await this.#options.read();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    const isDue = this.#options.now() - this.#failedAtMs >= RETRY_MS;
    if (this.#isStale && this.#reading === null && isDue) void this.readSoon();
  }

  async #readWhileStale(): Promise<void> {
    try {
      while (this.#isStale) await this.readOnce();
    } catch (error) {
      this.#failedAtMs = this.#options.now();
      this.#options.onFailure(error);
    }
  }
}
