import type { TargetKey } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';

/** Most targets, and most characters of their keys together. Targets are chosen by callers. */
const MAX_TARGETS = 20_000;
const MAX_CHARACTERS = 4_000_000;

/**
 * Targets that certainly have no enabled bindings at the known revision, so that evaluations for them neither read the
 * database nor keep anything else.
 */
export class UnboundTargets {
  readonly #lengths = new BoundedMap<TargetKey, number>({
    entries: MAX_TARGETS,
    weight: MAX_CHARACTERS,
    weightOf: (length) => length,
  });

  has(target: TargetKey): boolean {
    return this.#lengths.has(target);
  }

  add(target: TargetKey): void {
    this.#lengths.set(target, target.length);
  }

  /** A target may have bindings now. */
  delete(target: TargetKey): void {
    this.#lengths.delete(target);
  }

  clear(): void {
    this.#lengths.clear();
  }
}
