import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { DataTexts, TextCache } from './data-texts.js';
import type { CheckCall, LeafPlace } from './evaluator.js';
import type { StepAccount } from './step-account.js';
import type { AgentFacts, Detail, Stage, Step } from './types.js';

/** What all checks of an evaluation are called with. */
export interface EvaluationFacts {
  readonly step: Step;
  readonly stage: Stage;
  readonly agent: AgentFacts | null;
  nowMs(): number;
}

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
  readonly #facts: EvaluationFacts;

  constructor(
    detail: Detail,
    place: LeafPlace,
    account: StepAccount,
    texts: TextCache,
    facts: EvaluationFacts,
  ) {
    this.detail = detail;
    this.place = place;
    this.#account = account;
    this.#texts = texts;
    this.#facts = facts;
  }

  get step(): Step {
    return this.#facts.step;
  }

  get stage(): Stage {
    return this.#facts.stage;
  }

  get agent(): AgentFacts | null {
    return this.#facts.agent;
  }

  nowMs(): number {
    return this.#facts.nowMs();
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
