import type { RecordedChange } from '../../storage/database/change-log.js';
import { FollowedState } from '../../storage/database/followed-state.js';
import type { ActiveShadow } from './shadow.js';

export interface ShadowRegistryOptions {
  /** Reads the shadows of all namespaces. */
  readonly read: () => Promise<readonly ActiveShadow[]>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/** The shadows that are set, in memory. Follows the changes of all processes; while they cannot be read, the last ones stay. */
export class ShadowRegistry {
  #shadows: readonly ActiveShadow[] = [];
  #controls: ReadonlySet<number> = new Set();
  #listener: (() => void) | null = null;
  readonly #state: FollowedState;

  constructor({ read, onFailure, monotonic: now }: ShadowRegistryOptions) {
    // Nothing is known at the start.
    this.#state = new FollowedState({ read: async () => this.#take(await read()), onFailure, now }, true);
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
    return this.#state.readSoon();
  }

  /** Receives committed changes. A control that was deleted has no shadow any more. */
  changed(changes: readonly RecordedChange[]): void {
    const concerns = changes.some(
      ({ access, controls }) => access || controls.some((id) => this.#controls.has(id)),
    );
    if (concerns) void this.#state.readSoon();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    void this.#state.readSoon();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    this.#state.catchUp();
  }

  #take(shadows: readonly ActiveShadow[]): void {
    this.#shadows = shadows;
    this.#controls = new Set(shadows.map(({ controlId }) => controlId));
    this.#listener?.();
  }
}
