import type { ControlProgram } from '../core/types.js';

/** How far a process has followed the changes of the database. */
export interface Progress {
  /** Every change up to this revision is known. */
  readonly revision: number;
  /** When the database last said that there is no later one, in milliseconds of a clock that never goes back. */
  readonly currentAtMs: number;
}

/** The program of an agent, and of which revisions it is the program. */
export class LoadedProgram {
  readonly program: ControlProgram;
  /** The revision it was read at. */
  readonly readRevision: number;
  /** Whether it was made from the last known good file, because the database could not be asked. */
  readonly isKept: boolean;
  readonly #readAtMs: number;
  /** The last revision it is known to be right for, and when that was known to be the latest; null while it is. */
  #behind: Progress | null = null;

  constructor(program: ControlProgram, readRevision: number, readAtMs: number, isKept = false) {
    this.program = program;
    this.readRevision = readRevision;
    this.isKept = isKept;
    this.#readAtMs = readAtMs;
  }

  /** The latest revision for which it certainly is the program of its agent. */
  revision(progress: Progress): number {
    return this.#behind === null
      ? Math.max(this.readRevision, progress.revision)
      : Math.max(this.readRevision, this.#behind.revision);
  }

  /** When it was certainly the latest. */
  currentAtMs(progress: Progress): number {
    return Math.max(this.#readAtMs, (this.#behind ?? progress).currentAtMs);
  }

  /** Nothing that becomes known from now on is said of this program. */
  fallBehind(progress: Progress): void {
    this.#behind ??= progress;
  }
}
