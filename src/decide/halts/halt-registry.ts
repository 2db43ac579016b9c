import type { RecordedChange } from '../../storage/database/change-log.js';
import { FollowedState } from '../../storage/database/followed-state.js';
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

const NONE = new HaltIndex([]);

/**
 * The halts in force, in memory. Follows the changes of all processes; while they cannot be read, the last ones stay. A halt
 * whose time is over ends by the clock of this process.
 */
export class HaltRegistry implements HaltCheck {
  isEmpty = true;
  readonly #options: HaltRegistryOptions;
  #index = NONE;
  readonly #state: FollowedState;

  constructor(options: HaltRegistryOptions) {
    this.#options = options;
    const read = async () => this.#take(await options.read());
    this.#state = new FollowedState({ ...options, read }, false);
  }

  get reading(): Promise<void> | null {
    return this.#state.reading;
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
    await this.#state.readOnce();
  }

  /**
   * Resolves when a change of this process is in force here: a halt that was created, or that has ended. Never rejects: if
   * the database cannot be read now, the change is made to what is known.
   */
  async apply(halt: ActiveHalt, isActive: boolean): Promise<void> {
    await this.#state.readSoon();
    if (!this.#state.isStale) return;
    const others = this.#index.halts.filter(({ id }) => id !== halt.id);
    this.#take(isActive ? [...others, halt] : others);
  }

  /** Receives committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    if (changes.some(({ access }) => access)) void this.#state.readSoon();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.#state.readSoon();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    this.#state.catchUp();
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
