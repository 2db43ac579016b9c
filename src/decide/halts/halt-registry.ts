import { FollowedState } from '../../storage/database/followed-state.js';
import type { ActiveHalt, HaltableStep, HaltCheck } from './halt.js';
import { HaltIndex } from './halt-index.js';

const NONE = new HaltIndex([]);

/**
 * The halts in force of all namespaces, in memory, read in any order. A halt whose time is over ends by the clock of this
 * process, in milliseconds since 1970.
 */
export class HaltRegistry extends FollowedState<readonly ActiveHalt[]> implements HaltCheck {
  isEmpty = true;
  #index = NONE;

  of(step: HaltableStep): ActiveHalt | null {
    this.#endExpired();
    return this.#index.of(step);
  }

  /** The halts in force, by id ascending. */
  active(): readonly ActiveHalt[] {
    this.#endExpired();
    return this.#index.halts;
  }

  /**
   * Resolves when a change of this process is in force here: a halt that was created, or that has ended. Never rejects: if
   * the database cannot be read now, the change is made to what is known.
   */
  async apply(halt: ActiveHalt, isActive: boolean): Promise<void> {
    await this.refreshed();
    if (!this.isStale) return;
    const others = this.#index.halts.filter(({ id }) => id !== halt.id);
    this.take(isActive ? [...others, halt] : others);
  }

  #endExpired(): void {
    if (this.options.now() >= this.#index.nextEndMs) this.take(this.#index.halts);
  }

  protected override take(halts: readonly ActiveHalt[]): void {
    const nowMs = this.options.now();
    this.#index = new HaltIndex(
      halts.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs),
    );
    this.isEmpty = this.#index.halts.length === 0;
  }
}
