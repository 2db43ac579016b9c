import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { type EvaluationFacts, LazyCheckCall } from './check-call.js';
import { TextCache } from './data-texts.js';
import type { LeafPlace } from './evaluator.js';
import { CANCELLED, ExternalChecks } from './external-checks.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { Outcome } from './outcome.js';
import { type NextTurn, StepAccount } from './step-account.js';
import type { AgentFacts, Detail, Stage, Step } from './types.js';

/** State of one scan within one evaluation. */
export interface ScanState {
  /** Number of requested searches; the scan runs when it reaches MIN_SCANNED_SEARCHES. */
  asked: number;
  /** 1 for each search that may have a match. */
  readonly found: Uint8Array;
}

/** State sizes of the evaluations of a program. */
export interface EvaluationSize {
  readonly selectors: number;
  readonly sharedLeaves: number;
  /** Number of searches of each text scan. */
  readonly scans: readonly number[];
}

/** Answers the checks with memory, while a step is decided with what is kept of earlier ones. */
export interface Remembering {
  outcomeOf(leaf: MemoryLeaf): Outcome;
}

const NO_PLACE: LeafPlace = { path: '', negated: false };
const NO_STEP: Step = { type: '', name: '', input: null, output: null, context: null };

/**
 * One evaluation of a step, passed down the condition trees of all controls. Holds intermediate results, so
 * that none is computed twice. A program reuses it between evaluations; an evaluation that awaits promises
 * keeps its own.
 */
export class Evaluation implements EvaluationFacts {
  step: Step = NO_STEP;
  stage: Stage = 'pre';
  agent: AgentFacts | null = null;
  /** Whether metadata and traces are requested. */
  full = false;
  /** Selected data, by slot. */
  readonly selected: Slots<JsonValue>;
  /** Outcomes of leaves that occur more than once, by slot. */
  readonly outcomes: Slots<Outcome | Promise<Outcome>>;
  readonly scans: readonly ScanState[];
  /** The texts of the selected objects and lists. */
  readonly texts = new TextCache();
  /** Whether some check of a local evaluator returned a promise. */
  waitsForLocal = false;
  /** Null where there is no memory, and until the step is decided with it. */
  remembering: Remembering | null = null;
  #denied = false;
  /** The work of all checks. */
  readonly account: StepAccount;
  #call: LazyCheckCall;
  #external: ExternalChecks | null = null;
  readonly #clock: (() => number) | undefined;
  /** The time of the evaluation; NaN until a check asks for it. */
  #nowMs = Number.NaN;

  /** `clock`: milliseconds since 1970. */
  constructor(size: EvaluationSize, nextTurn?: NextTurn, clock?: () => number) {
    this.account = new StepAccount(nextTurn);
    this.#clock = clock;
    this.#call = this.#newCall('verdict', NO_PLACE);
    this.selected = new Slots(size.selectors);
    this.outcomes = new Slots(size.sharedLeaves);
    this.scans = size.scans.map((searches) => ({ asked: 0, found: new Uint8Array(searches) }));
  }

  begin(step: Step, stage: Stage, detail: Detail, agent: AgentFacts | null): void {
    this.step = step;
    this.stage = stage;
    this.agent = agent;
    this.full = detail === 'full';
    this.account.begin();
    if (this.#call.detail !== detail) this.#call = this.#newCall(detail, NO_PLACE);
  }

  /** Releases the step and all intermediate results. */
  end(): void {
    this.step = NO_STEP;
    this.agent = null;
    this.#nowMs = Number.NaN;
    this.selected.clear();
    this.texts.clear();
    this.outcomes.clear();
    for (const scan of this.scans) scan.asked = 0;
    this.waitsForLocal = false;
    this.remembering = null;
    this.#denied = false;
    this.#external = null;
  }

  nowMs(): number {
    if (Number.isNaN(this.#nowMs)) {
      if (this.#clock === undefined) throw new Error('there is no clock');
      this.#nowMs = this.#clock();
    }
    return this.#nowMs;
  }

  /** Whether a deny control has matched. */
  get denied(): boolean {
    return this.#denied;
  }

  /** Records the match of a deny control: external evaluators are no longer needed. */
  deny(): void {
    if (this.#denied) return;
    this.#denied = true;
    this.#external?.cancel();
  }

  /** Ends external checks, as after a deny: the verdict is not awaited any more. */
  stop(): void {
    this.deny();
  }

  /** The call context of the check of the leaf at `place`. Checks share it until one claims it. */
  nextCall(place: LeafPlace): LazyCheckCall {
    if (this.#call.claimed) this.#call = this.#newCall(this.#call.detail, place);
    else this.#call.place = place;
    return this.#call;
  }

  /** Runs `check` once all local controls have been evaluated; CANCELLED once a deny has matched. */
  runExternally(
    place: LeafPlace,
    check: (call: LazyCheckCall) => Outcome | Promise<Outcome>,
  ): Outcome | Promise<Outcome> {
    if (this.#denied) return CANCELLED;
    const call = this.#newCall(this.#call.detail, place);
    this.#external ??= new ExternalChecks();
    return this.#external.run(
      () => check(call),
      () => call.abort(),
    );
  }

  /** Starts external checks: all controls have been evaluated. */
  beginExternal(): void {
    if (this.#denied) {
      this.#external?.cancel();
      return;
    }
    // A condition that awaits a local check may reach an external one later.
    this.#external ??= new ExternalChecks();
    this.#external.begin();
  }

  #newCall(detail: Detail, place: LeafPlace): LazyCheckCall {
    return new LazyCheckCall(detail, place, this.account, this.texts, this);
  }
}

/**
 * A fixed number of slots, filled during one evaluation and cleared at its end. Clearing costs as much as was
 * filled, independent of capacity, so reuse is cheap.
 */
export class Slots<T> {
  readonly #values: (T | undefined)[];
  readonly #filled: number[] = [];
  #count = 0;

  constructor(size: number) {
    this.#values = new Array(size).fill(undefined);
  }

  /** Undefined where nothing was put since the last `clear`. */
  get(slot: number): T | undefined {
    return this.#values[slot];
  }

  /** To be called once for each slot before the next `clear`. */
  put(slot: number, value: T): void {
    this.#values[slot] = value;
    this.#filled[this.#count] = slot;
    this.#count += 1;
  }

  /** Replaces the value of a slot that has one. */
  replace(slot: number, value: T): void {
    this.#values[slot] = value;
  }

  clear(): void {
    for (let index = 0; index < this.#count; index += 1) {
      const slot = this.#filled[index];
      if (slot !== undefined) this.#values[slot] = undefined;
    }
    this.#count = 0;
  }
}
