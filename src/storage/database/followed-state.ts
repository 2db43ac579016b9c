import type { RecordedChange } from './change-log.js';

export interface FollowedStateOptions<T> {
  /** Reads all of it from the database. */
  readonly read: () => Promise<T>;
  /** Receives failures to read, but not those that `load` rejects with. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** In milliseconds. */
  readonly now: () => number;
}

/** Least time between a failure and `catchUp` reading again, in milliseconds; it is called about as often. */
const RETRY_MS = 500;

/**
 * What processes keep in memory of the database, and read again whenever it may have changed: one reading at a time, and one
 * more for changes during it. A `ChangeFollower`. While it cannot be read, what was known stays.
 */
export abstract class FollowedState<T> {
  protected readonly options: FollowedStateOptions<T>;
  readonly #listeners = new Set<() => void>();
  /** Whether a reading has to begin. Nothing is known at the start. */
  #isDue = true;
  #reading: Promise<void> | null = null;
  /** That of the last reading; null if it succeeded. */
  #failure: { readonly error: unknown; readonly atMs: number } | null = null;

  constructor(options: FollowedStateOptions<T>) {
    this.options = options;
  }

  /** Fulfilled when the changes that this process was told of are known, or cannot be read; null if none is being read. */
  get reading(): Promise<void> | null {
    return this.#reading;
  }

  /** Calls back after every change of what is known. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Knows this, for example of the last known good file, until the database is read. */
  restore(found: T): void {
    this.take(found);
    for (const listener of this.#listeners) listener();
  }

  /** Reads the database, with a reading that begins after this call. Rejects if it fails. */
  async load(): Promise<void> {
    this.#isDue = true;
    this.#reading ??= this.#readWhileDue();
    await this.#reading;
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Resolves when what was committed before the call is known, if the database can be read. Never rejects. */
  refreshed(): Promise<void> {
    return this.load().catch(this.options.onFailure);
  }

  /** Receives committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    if (changes.some((change) => this.isConcerned(change))) void this.refreshed();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.refreshed();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    if (this.#reading !== null || !this.isStale) return;
    if (this.#failure === null || this.options.now() - this.#failure.atMs >= RETRY_MS) void this.refreshed();
  }

  /** Whether the last reading failed, or none was asked for yet. */
  protected get isStale(): boolean {
    return this.#isDue || this.#failure !== null;
  }

  /** Whether a change may concern it. */
  protected isConcerned({ access }: RecordedChange): boolean {
    return access;
  }

  protected abstract take(found: T): void;

  async #readWhileDue(): Promise<void> {
    while (this.#isDue) await this.#read();
    // At once: a reading that is asked for from now on is another one.
    this.#reading = null;
  }

  async #read(): Promise<void> {
    this.#isDue = false;
    try {
      this.restore(await this.options.read());
      this.#failure = null;
    } catch (error) {
      this.#failure = { error, atMs: this.options.now() };
    }
  }
}
