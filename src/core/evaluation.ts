import type { JsonValue } from '../json/json-value.js';
import { LazyCheckCall } from './check-call.js';
import { TextCache } from './data-texts.js';
import type { LeafPlace } from './evaluator.js';
import { CANCELLED, ExternalChecks } from './external-checks.js';
import type { Outcome } from './outcome.js';
import { type NextTurn, StepAccount } from './step-account.js';
import type { Detail, Step } from './types.js';

/** What one evaluation knows about one scan. */
export interface ScanState {
  /** How many searches were asked for; from the last one done by itself on, the scan is done. */
  asked: number;
  /** 1 for each search that may find something. */
  readonly found: Uint8Array;
}

/** How much room the evaluations of a program need. */
export interface EvaluationSize {
  readonly selectors: number;
  readonly sharedLeaves: number;
  /** Number of searches of each text scan. */
  readonly scans: readonly number[];
}

const NO_PLACE: LeafPlace = { path: '', negated: false };
const NO_STEP: Step = { type: '', name: '', input: null, output: null, context: null };

/**
 * One evaluation of a step, handed down the condition trees of all controls: what they have found out so far, so
 * that none does it again. A program uses it for one evaluation after the other; one that waits for promises keeps
 * its own.
 */
export class Evaluation {
  step: Step = NO_STEP;
  /** Whether metadata and traces are wanted. */
  full = false;
  /** What selectors have selected, by slot. */
  readonly selected: Slots<JsonValue>;
  /** What leaves have said that occur more than once, by slot. */
  readonly outcomes: Slots<Outcome | Promise<Outcome>>;
  readonly scans: readonly ScanState[];
  /** The texts of the objects and lists that selectors have selected. */
  readonly texts = new TextCache();
  /** Whether some check of a local evaluator returned a promise. */
  waitsForLocal = false;
  #denied = false;
  /** The work of all checks. */
  readonly account: StepAccount;
  #call: LazyCheckCall;
  #external: ExternalChecks | null = null;

  constructor(size: EvaluationSize, nextTurn?: NextTurn) {
    this.account = new StepAccount(nextTurn);
    this.#call = new LazyCheckCall('verdict', NO_PLACE, this.account, this.texts);
    this.selected = new Slots(size.selectors);
    this.outcomes = new Slots(size.sharedLeaves);
    this.scans = size.scans.map((searches) => ({ asked: 0, found: new Uint8Array(searches) }));
  }

  begin(step: Step, detail: Detail): void {
    this.step = step;
    this.full = detail === 'full';
    this.account.begin();
    if (this.#call.detail !== detail) this.#call = this.#newCall(detail, NO_PLACE);
  }

  /** Lets go of the step and everything found out about it. */
  end(): void {
    this.step = NO_STEP;
    this.selected.clear();
    this.texts.clear();
    this.outcomes.clear();
    for (const scan of this.scans) scan.asked = 0;
    this.waitsForLocal = false;
    this.#denied = false;
    this.#external = null;
  }

  /** Whether a deny control has matched. */
  get denied(): boolean {
    return this.#denied;
  }

  /** A deny control has matched: external evaluators need not be asked any more. */
  deny(): void {
    if (this.#denied) return;
    this.#denied = true;
    this.#external?.cancel();
  }

  /** What the check of the leaf at `place` is told. Checks share it until one has claimed it. */
  nextCall(place: LeafPlace): LazyCheckCall {
    if (this.#call.claimed) this.#call = this.#newCall(this.#call.detail, place);
    else this.#call.place = place;
    return this.#call;
  }

  /** Runs `check` when all local controls have been looked at; CANCELLED once a deny has matched. */
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

  /** All controls have been looked at: external checks may begin. */
  beginExternal(): void {
    if (this.#denied) {
      this.#external?.cancel();
      return;
    }
    // A condition that waits for a local check may come to an external one later.
    this.#external ??= new ExternalChecks();
    this.#external.begin();
  }

  #newCall(detail: Detail, place: LeafPlace): LazyCheckCall {
    return new LazyCheckCall(detail, place, this.account, this.texts);
  }
}

/**
 * A fixed number of places that one evaluation fills as it goes and empties at its end. Emptying costs as much as was
 * filled, not as much as there is room, so it is cheap to use again.
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

  clear(): void {
    for (let index = 0; index < this.#count; index += 1) {
      const slot = this.#filled[index];
      if (slot !== undefined) this.#values[slot] = undefined;
    }
    this.#count = 0;
  }
}
