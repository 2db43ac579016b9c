import { type RepeatLevel, reasonOf } from '../../../contract/runtime/repeat-log.js';
import type { StorageError } from './storage-state.js';

/** Saves recoverable data after a problem of the storage was found, and tells what was done. */
export class Rescue {
  readonly #save: (problem: StorageError) => Promise<string | null>;
  readonly #tell: (level: RepeatLevel, message: string, facts: object) => void;
  /** The problem after which data still have to be saved. */
  #problem: StorageError | null = null;
  #isRunning = false;

  /** `save` resolves with a description of what was saved, or null when there is nothing to save. */
  constructor(
    save: (problem: StorageError) => Promise<string | null>,
    tell: (level: RepeatLevel, message: string, facts: object) => void,
  ) {
    this.#save = save;
    this.#tell = tell;
  }

  begin(problem: StorageError): void {
    this.#problem = problem;
    void this.retry();
  }

  /** Nothing is saved any more: the problem has passed or changed. */
  cancel(): void {
    this.#problem = null;
  }

  /** Saves what an earlier attempt could not. */
  async retry(): Promise<void> {
    const problem = this.#problem;
    if (problem === null || this.#isRunning) return;
    this.#isRunning = true;
    try {
      const done = await this.#save(problem);
      if (this.#problem === problem) this.#problem = null;
      if (done !== null) this.#tell('warn', done, {});
    } catch (failure) {
      const message = 'what is not in the file of the database yet cannot be saved; it is tried again';
      this.#tell('error', message, { reason: reasonOf(failure) });
    } finally {
      this.#isRunning = false;
    }
  }
}
