import type { RecordedChange } from '../database/change-log.js';
import type { ActiveHalt, HaltableStep, HaltCheck } from './halt.js';
import { HaltIndex } from './halt-index.js';

export interface HaltRegistryOptions {
  /** Reads all halts that are in force, of all namespaces, in any order. */
  readonly read: () => Promise<readonly ActiveHalt[]>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Least time between two attempts after a failure, in milliseconds; `catchUp` is called about as often. */
const RETRY_MS = 500;
const NONE = new HaltIndex([]);

/**
 * The halts in force, in memory. Follows the changes of all processes; while they cannot be read, the last ones stay. A halt
 * whose time is over ends by the clock of this process.
 */
export class HaltRegistry implements HaltCheck {
  isEmpty = true;
  readonly #options: HaltRegistryOptions;
  #index = NONE;
  /** Whether something may have changed since the last reading that succeeded began. */
  #isStale = false;
  #reading: Promise<void> | null = null;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HaltRegistryOptions) {
    this.#options = options;
  }

  get reading(): Promise<void> | null {
    return this.#reading;
  }

  of(step: HaltableStep): ActiveHalt | null {
    this.#endExpired();
    return this.#index.of(step);
  }

  /** The halts in force, by id ascending. */
  active(): readonly ActiveHalt[] {
    this.#endExpired();
    return this.#index.halts;
  }

  /** Knows these halts, for example those of the last known good file, until the database is read. */
  restore(halts: readonly ActiveHalt[]): void {
    this.#take(halts);
  }

  /** Reads the database at the start. Rejects with a `ServiceError` if it cannot be read: no halt may be missed. */
  async start(): Promise<void> {
    this.#isStale = true;
    await this.#readOnce();
  }

  /**
   * Resolves when a change of this process is in force here: a halt that was created, or that has ended. Never rejects: if
   * the database cannot be read now, the change is made to what is known.
   */
  async apply(halt: ActiveHalt, isActive: boolean): Promise<void> {
    await this.#readSoon();
    if (!this.#isStale) return;
    const others = this.#index.halts.filter(({ id }) => id !== halt.id);
    this.#take(isActive ? [...others, halt] : others);
  }

  /** Receives committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    if (changes.some(({ access }) => access)) void this.#readSoon();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.#readSoon();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    const isDue = this.#options.now() - this.#failedAtMs >= RETRY_MS;
    if (this.#isStale && this.#reading === null && isDue) void this.#readSoon();
  }

  /** Reads with a reading that begins after this call. */
  #readSoon(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readWhileStale(): Promise<void> {
    try {
      while (this.#isStale) await this.#readOnce();
    } catch (error) {
      this.#failedAtMs = this.#options.now();
      this.#options.onFailure(error);
    }
  }

  async #readOnce(): Promise<void> {
    this.#isStale = false;
    try {
      this.#take(await this.#options.read());
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #endExpired(): void {
    if (this.#options.now() >= this.#index.nextEndMs) this.#take(this.#index.halts);
  }

  #take(halts: readonly ActiveHalt[]): void {
    const nowMs = this.#options.now();
    this.#index = new HaltIndex(
      halts.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs),
    );
    this.isEmpty = this.#index.halts.length === 0;
  }
}
