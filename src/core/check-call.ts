import type { JsonObject, JsonValue } from '../json/json-value.js';
import type { DataTexts, TextCache } from './data-texts.js';
import type { CheckCall, LeafPlace } from './evaluator.js';
import type { StepAccount } from './step-account.js';
import type { Detail } from './types.js';

/** What checks are told. Most never ask for the signal, so it comes into being when one does. */
export class LazyCheckCall implements CheckCall {
  readonly detail: Detail;
  /** Whether it belongs to one check now, and must not be handed to another. */
  claimed = false;
  /** The leaf whose check is told. */
  place: LeafPlace;
  #controller: AbortController | null = null;
  #aborted = false;
  readonly #account: StepAccount;
  readonly #texts: TextCache;

  constructor(detail: Detail, place: LeafPlace, account: StepAccount, texts: TextCache) {
    this.detail = detail;
    this.place = place;
    this.#account = account;
    this.#texts = texts;
  }

  textsOf(data: JsonValue[] | JsonObject): DataTexts {
    return this.#texts.of(data);
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
