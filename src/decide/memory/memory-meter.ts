import type { Degraded } from '../../kernel/core/memory.js';

/** What is measured of the memory of a process. */
export interface MemoryMeter {
  /** An exchange that was answered, with the number of steps that it decided. */
  exchanged(seconds: number, steps: number): void;
  /** Steps that were decided again because another process was faster. */
  conflicted(steps: number): void;
  /** An exchange that failed. */
  failed(): void;
  /** Steps that were decided without the store. */
  degraded(kind: Exclude<Degraded, 'missing_key'>, steps: number): void;
  /** Keys that a sweep of this process removed because nothing of them matters any more. */
  swept(expired: number): void;
  /** Keys that were not begun because there was no room for them. */
  refused(keys: number): void;
}
