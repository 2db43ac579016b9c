import type { Outcome } from './outcome.js';

/** A check of an external evaluator: it has not begun, or has not answered. */
interface ExternalCheck {
  begin(): void;
  cancel(): void;
}

/**
 * The outcome of a check that a deny made superfluous. As an error it ends every condition that it is part of; the
 * control is then left out of the verdict.
 */
export const CANCELLED: Outcome = {
  matched: false,
  confidence: 0,
  message: null,
  metadata: null,
  error: '',
  cancelled: true,
};

/** The external checks of one evaluation. They wait until they may begin, and end when a deny has matched. */
export class ExternalChecks {
  readonly #checks = new Set<ExternalCheck>();
  #mayBegin = false;

  /**
   * The outcome of `check`, which is run once `begin` has been called; CANCELLED when `cancel` comes first, and then
   * `abort` is called. `check` must not reject.
   */
  run(check: () => Outcome | Promise<Outcome>, abort: () => void): Promise<Outcome> {
    return new Promise((resolve) => {
      const entry: ExternalCheck = {
        begin: () => {
          const outcome = check();
          if (outcome instanceof Promise) void outcome.then(end);
          else end(outcome);
        },
        cancel: () => {
          abort();
          end(CANCELLED);
        },
      };
      const end = (outcome: Outcome) => {
        this.#checks.delete(entry);
        resolve(outcome);
      };
      this.#checks.add(entry);
      if (this.#mayBegin) entry.begin();
    });
  }

  /** Lets those begin that wait, and those to come. */
  begin(): void {
    this.#mayBegin = true;
    for (const check of [...this.#checks]) check.begin();
  }

  /** Ends those that wait and those that run. */
  cancel(): void {
    for (const check of [...this.#checks]) check.cancel();
  }
}
