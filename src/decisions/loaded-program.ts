import type { ControlProgram } from '../core/types.js';

/** The state of the database known to a process. */
export interface Progress {
  /** Every change up to this revision is known. */
  readonly revision: number;
  /** When the database last confirmed that there is no later one, in milliseconds of a monotonic clock. */
  readonly currentAtMs: number;
}

/** The program of an agent, with the revisions for which it is current. */
export class LoadedProgram {
  readonly program: ControlProgram;
  /** The revision it was read at. */
  readonly readRevision: number;
  /** Whether it was made from the last known good file, because the database did not answer. */
  readonly isKept: boolean;
  readonly #readAtMs: number;
  /** The last revision it is known to be current for, and when that was the latest; null while it is. */
  #behind: Progress | null = null;

  constructor(program: ControlProgram, readRevision: number, readAtMs: number, isKept = false) {
    this.program = program;
    this.readRevision = readRevision;
    this.isKept = isKept;
    this.#readAtMs = readAtMs;
  }

  /** The latest revision for which the program is certainly current. */
  revision(progress: Progress): number {
    return this.#behind === null
      ? Math.max(this.readRevision, progress.revision)
      : Math.max(this.readRevision, this.#behind.revision);
  }

  /** When it was certainly the latest. */
  currentAtMs(progress: Progress): number {
    return Math.max(this.#readAtMs, (this.#behind ?? progress).currentAtMs);
  }

  /** Marks the program as outdated: later progress does not apply to it. */
  fallBehind(progress: Progress): void {
    this.#behind ??= progress;
  }
}
