import type { JsonObject, JsonValue } from '../../packages/exact-json/src/index.js';
import type { DataTexts, TextCache } from './data-texts.js';
import type { CheckCall, LeafPlace } from './evaluator.js';
import type { StepAccount } from './step-account.js';
import type { Detail } from './types.js';

/** Call context of checks. Most never use the signal, so it is created on first access. */
export class LazyCheckCall implements CheckCall {
  readonly detail: Detail;
  /** Whether one check holds it, so that it must not be passed to another. */
  claimed = false;
  /** The leaf whose check is called. */
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

  /** Marks the answer as no longer awaited. A signal requested afterwards is already aborted. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
