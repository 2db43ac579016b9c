import type { Outcome } from './outcome.js';

/** A check of an external evaluator that has not begun or has not answered. */
interface ExternalCheck {
  begin(): void;
  cancel(): void;
}

/**
 * Outcome of a check that a deny made superfluous. Being an error, it ends every condition that contains it;
 * the control is then left out of the verdict.
 */
export const CANCELLED: Outcome = {
  matched: false,
  confidence: 0,
  message: null,
  metadata: null,
  error: '',
  cancelled: true,
};

/** The external checks of one evaluation. They are held until `begin`, and end when a deny has matched. */
export class ExternalChecks {
  readonly #checks = new Set<ExternalCheck>();
  #mayBegin = false;

  /**
   * Returns the outcome of `check`, which runs once `begin` has been called; CANCELLED when `cancel` comes
   * first, and then `abort` is called. `check` must not reject.
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

  /** Starts held checks and all later ones. */
  begin(): void {
    this.#mayBegin = true;
    for (const check of [...this.#checks]) check.begin();
  }

  /** Ends held and running checks. */
  cancel(): void {
    for (const check of [...this.#checks]) check.cancel();
  }
}
