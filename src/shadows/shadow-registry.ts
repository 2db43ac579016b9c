import type { RecordedChange } from '../database/change-log.js';
import type { ActiveShadow } from './shadow.js';

export interface ShadowRegistryOptions {
  /** Reads the shadows of all namespaces. */
  readonly read: () => Promise<readonly ActiveShadow[]>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/** Least time between two attempts after a failure, in milliseconds; `catchUp` is called about as often. */
const RETRY_MS = 500;

/** The shadows that are set, in memory. Follows the changes of all processes; while they cannot be read, the last ones stay. */
export class ShadowRegistry {
  readonly #options: ShadowRegistryOptions;
  #shadows: readonly ActiveShadow[] = [];
  #controls: ReadonlySet<number> = new Set();
  #listener: (() => void) | null = null;
  /** Whether something may have changed since the last reading that succeeded began: nothing is known at the start. */
  #isStale = true;
  #reading: Promise<void> | null = null;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ShadowRegistryOptions) {
    this.#options = options;
  }

  /** All of them, by id ascending. */
  get shadows(): readonly ActiveShadow[] {
    return this.#shadows;
  }

  /** Calls back after every change of what is known. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Resolves when what was committed before is known, if the database can be read. Never rejects. */
  refreshed(): Promise<void> {
    return this.#readSoon();
  }

  /** Receives committed changes. A control that was deleted has no shadow any more. */
  changed(changes: readonly RecordedChange[]): void {
    const concerns = changes.some(
      ({ access, controls }) => access || controls.some((id) => this.#controls.has(id)),
    );
    if (concerns) void this.#readSoon();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.#readSoon();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    const isDue = this.#options.monotonic() - this.#failedAtMs >= RETRY_MS;
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
      while (this.#isStale) {
        this.#isStale = false;
        this.#take(await this.#options.read());
      }
    } catch (error) {
      this.#isStale = true;
      this.#failedAtMs = this.#options.monotonic();
      this.#options.onFailure(error);
    }
  }

  #take(shadows: readonly ActiveShadow[]): void {
    this.#shadows = shadows;
    this.#controls = new Set(shadows.map(({ controlId }) => controlId));
    this.#listener?.();
  }
}
