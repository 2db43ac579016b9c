import type { RecordedChange } from '../../storage/database/change-log.js';
import { FollowedState } from '../../storage/database/followed-state.js';
import type { ActiveShadow } from './shadow.js';

/** The shadows of all namespaces that are set, in memory. */
export class ShadowRegistry extends FollowedState<readonly ActiveShadow[]> {
  #shadows: readonly ActiveShadow[] = [];
  #controls: ReadonlySet<number> = new Set();

  /** All of them, by id ascending. */
  get shadows(): readonly ActiveShadow[] {
    return this.#shadows;
  }

  /** A control that was deleted has no shadow any more. */
  protected override isConcerned({ access, controls }: RecordedChange): boolean {
    return access || controls.some((id) => this.#controls.has(id));
  }

  protected override take(shadows: readonly ActiveShadow[]): void {
    this.#shadows = shadows;
    this.#controls = new Set(shadows.map(({ controlId }) => controlId));
  }
}
