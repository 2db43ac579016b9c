import type { CheckCall } from '../evaluators/types.js';
import type { StepAccount } from './step-account.js';
import type { Detail } from './types.js';

/** What checks are told. Most never ask for the signal, so it comes into being when one does. */
export class LazyCheckCall implements CheckCall {
  readonly detail: Detail;
  /** Whether it belongs to one check now, and must not be handed to another. */
  claimed = false;
  #controller: AbortController | null = null;
  #aborted = false;
  readonly #account: StepAccount;

  constructor(detail: Detail, account: StepAccount) {
    this.detail = detail;
    this.#account = account;
  }

  spend(steps: number): void {
    this.#account.spend(steps);
  }

  get signal(): AbortSignal {
    this.claimed = true;
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Nobody waits for the answer any more. A signal that is asked for later is aborted already. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
