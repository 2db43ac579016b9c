import type { Evaluation, Remembering } from './evaluation.js';
import { describeThrown, failureText } from './failure.js';
import type {
  AppliedLimit,
  MemoryAddition,
  MemoryCall,
  MemoryDecision,
  MemoryKey,
  MemoryMoment,
  MemoryRule,
  MemoryView,
  MissingPart,
  StepEvent,
} from './memory.js';
import {
  type AnsweredCheck,
  answeredCheck,
  keptMetadata,
  passedOver,
  ReachedLimits,
  refusedCheck,
} from './memory-answer.js';
import { brokenCheck, failedCheck } from './memory-leaf.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { Outcome } from './outcome.js';
import type { RecordingCheck, RememberingControl } from './program-memory.js';
import type { Decision } from './types.js';

/** For callers, where the store does not answer and the check fails closed. */
export const NO_STORE_TEXT = 'The memory of the control is not available';

/** Otherwise the step would be taken for the one that was counted. */
const REUSED_TEXT =
  'The step_id was used for another step, which was allowed: each step needs an id of its own';

const DAMAGED_TEXT = 'What is kept for the control cannot be read';

const FULL_TEXT =
  'The memory of controls has no room for a new key: the agent, or the namespace, has as many as it may until some expire';

/** The checks that the conditions leave open, with their keys. */
export type OpenChecks = ReadonlyMap<MemoryLeaf, MemoryKey | MissingPart>;

/** A check that settles. */
export interface SettledCheck {
  readonly leaf: MemoryLeaf;
  readonly key: MemoryKey;
  readonly isOpen: boolean;
}

/** A check that may record the step, with all keys under which it would. */
export interface Recorder extends RecordingCheck {
  readonly keys: readonly MemoryKey[];
}

/** What is known of a step before it is decided with memory. */
export interface Undecided {
  readonly evaluation: Evaluation;
  readonly call: MemoryCall;
  /** Whether the controls without memory let it pass. Otherwise no control with memory is asked. */
  readonly passes: boolean;
  /** See `RememberedEvaluation`. */
  readonly lifted: ReadonlySet<number>;
  readonly controls: readonly RememberingControl[];
  readonly open: OpenChecks;
  readonly recorders: readonly Recorder[];
  readonly settled: readonly SettledCheck[];
  /** The object of a key that equal keys share. */
  readonly keyed: (key: MemoryKey) => MemoryKey;
}

/** What the controls with memory gave. */
export interface DecidedControls {
  /** In the order of the controls; none if they were not asked. */
  readonly outcomes: readonly Outcome[];
  /** In the order of the verdict. */
  readonly limits: readonly AppliedLimit[];
  /** Whether the step may run. */
  readonly isSafe: boolean;
  /** Controls that deny the step because they could not record it, with their errors. Absent for none. */
  readonly unrecorded?: ReadonlyMap<RememberingControl, Outcome>;
}

/** Whether the outcome of a control makes a step unsafe. */
export function isBlocked(decision: Decision, { matched, error }: Outcome): boolean {
  return error === null ? matched && decision !== 'observe' : decision === 'deny';
}

const NOT_READY: Outcome = {
  matched: false,
  confidence: 0,
  message: failureText(''),
  metadata: null,
  error: failureText(''),
  problem: 'a part without memory had no outcome when the control was decided',
};

/** Decides a step by what is kept. Synchronous, without effects, the same for the same view. */
export function decideRemembered(step: Undecided, view: MemoryView): MemoryDecision<DecidedControls> {
  const decided = decideControls(step, view);
  const { stage, identity } = step.call;
  // A step that was denied has not run, whatever its caller says.
  if (stage === 'post' && view.wasDenied) return { value: decided, allowed: false, additions: [] };
  const ended = identity.error === null ? 'response' : 'error';
  // Before a step runs, its end counts as well: it could not be recorded either.
  const unrecorded = unrecordedIn(step, view, stage === 'post' ? [ended] : ['request', 'response', 'error']);
  const value = unrecorded.size === 0 ? decided : { ...decided, isSafe: false, unrecorded };
  if (stage === 'post') return { value, allowed: true, additions: additions(step, view, ended) };
  const event = value.isSafe ? 'request' : 'denied';
  return { value, allowed: value.isSafe, additions: additions(step, view, event) };
}

/** What a control that denies could not record would be missing when it decides a later step. */
function unrecordedIn(
  { recorders }: Undecided,
  view: MemoryView,
  events: readonly StepEvent[],
): ReadonlyMap<RememberingControl, Outcome> {
  const found = new Map<RememberingControl, Outcome>();
  for (const { control, leaf, keys } of recorders) {
    if (control.decision !== 'deny' || !keys.some((key) => view.isFull(key))) continue;
    const records = leaf.rule.records?.events.some((event) => events.includes(event)) === true;
    if (records) found.set(control, failedCheck(leaf.label, FULL_TEXT));
  }
  return found;
}

/** Runs the controls with memory; without a view as while the store does not answer. */
export function decideControls(step: Undecided, view: MemoryView | null): DecidedControls {
  const { evaluation, passes, controls, lifted } = step;
  if (!passes) return { outcomes: [], limits: [], isSafe: false };
  const outcomes: Outcome[] = [];
  const limits = new ReachedLimits();
  let isSafe = true;
  /** Those of the control that runs. */
  let reached: AnsweredCheck[] = [];
  const moments = view === null ? null : new Moments(view);
  const remembering: Remembering = {
    outcomeOf(leaf) {
      const answered = answerOf(step, leaf, view, moments);
      reached.push(answered);
      limits.add(answered);
      return answered.outcome;
    },
  };
  evaluation.remembering = remembering;
  for (const control of controls) {
    if (reached.length > 0) reached = [];
    const made = control.condition.run(evaluation);
    // The parts without memory have their outcomes, so that nothing is left to be awaited.
    const outcome = made instanceof Promise ? NOT_READY : made;
    outcomes.push(withKept(outcome, reached, evaluation.full));
    const isLifted = outcome.matched && lifted.has(control.id);
    if (isBlocked(control.decision, outcome) && !isLifted) isSafe = false;
  }
  evaluation.remembering = null;
  return { outcomes, limits: limits.list(), isSafe };
}

/**
 * Adds the metadata of the check with memory that decided, or of the first one that matched, or was asked, if the outcome of the
 * control is reported.
 */
function withKept(outcome: Outcome, reached: readonly AnsweredCheck[], isFull: boolean): Outcome {
  const { leaf = null, matched, error } = outcome;
  if (!matched && error === null && !isFull) return outcome;
  const chosen =
    reached.find(({ outcome: own }) => own.leaf === leaf) ??
    reached.find(({ outcome: own }) => own.matched) ??
    reached[0];
  const kept = chosen === undefined ? undefined : keptMetadata(chosen);
  return kept === undefined ? outcome : { ...outcome, metadata: { ...outcome.metadata, ...kept }, kept };
}

function answerOf(
  { open, call, evaluation }: Undecided,
  leaf: MemoryLeaf,
  view: MemoryView | null,
  moments: Moments | null,
): AnsweredCheck {
  const key = open.get(leaf);
  if (key === undefined)
    return refusedCheck(leaf, brokenCheck(leaf.label, 'it was not expected to be asked'));
  const { rule, ruleId } = leaf;
  if ('missing' in key) {
    const text = `The step lacks ${key.missing}, which the control needs`;
    if (rule.onMissing === 'skip') return passedOver(leaf, 'missing_key', text);
    return refusedCheck(leaf, failedCheck(leaf.label, text));
  }
  const isLocal = view?.source !== 'store';
  if (isLocal && rule.onStoreError === 'allow') return passedOver(leaf, 'store_unavailable', NO_STORE_TEXT);
  if (view === null || moments === null || (isLocal && rule.onStoreError === 'deny'))
    return refusedCheck(leaf, failedCheck(leaf.label, NO_STORE_TEXT));
  const at = moments.of(key);
  if (at.trouble !== null) return refusedCheck(leaf, failedCheck(leaf.label, at.trouble));
  if (at.isReused) return refusedCheck(leaf, failedCheck(leaf.label, REUSED_TEXT));
  try {
    const moment = at.moment(view.sinceUs(ruleId));
    const answer = rule.answer(view.state(key, rule.kind, ruleId), call, moment);
    return answeredCheck(leaf, answer, key.label, moment.sinceUs, isLocal ? 'local' : null, evaluation.full);
  } catch (thrown) {
    return refusedCheck(leaf, brokenCheck(leaf.label, describeThrown(thrown)));
  }
}

/** The moment of the keys of a step: the same object for all checks for which it is the same. */
class Moments {
  readonly #view: MemoryView;
  readonly #hash: (text: string) => string;
  #key: MemoryKey | null = null;
  #trouble: string | null = null;
  #isReused = false;
  #moment: MemoryMoment | null = null;

  constructor(view: MemoryView) {
    this.#view = view;
    this.#hash = (text) => view.hash(text);
  }

  of(key: MemoryKey): this {
    if (key !== this.#key) {
      this.#key = key;
      const isFull = this.#view.isFull(key);
      this.#trouble = this.#view.isDamaged(key) ? DAMAGED_TEXT : isFull ? FULL_TEXT : null;
      this.#isReused = this.#view.isReused(key);
      this.#moment = null;
    }
    return this;
  }

  /** Why nothing can be answered for the key. */
  get trouble(): string | null {
    return this.#trouble;
  }

  get isReused(): boolean {
    return this.#isReused;
  }

  moment(sinceUs: number | null): MemoryMoment {
    const known = this.#moment;
    if (known !== null && known.sinceUs === sinceUs) return known;
    const { nowUs, stepHash } = this.#view;
    const isRepeated = known?.isRepeated ?? (this.#key !== null && this.#view.isRepeated(this.#key));
    this.#moment = { nowUs, sinceUs, isRepeated, stepHash, hash: this.#hash };
    return this.#moment;
  }
}

function momentOf(view: MemoryView, ruleId: string, isRepeated: boolean): MemoryMoment {
  const { nowUs, stepHash } = view;
  return { nowUs, sinceUs: view.sinceUs(ruleId), isRepeated, stepHash, hash: (text) => view.hash(text) };
}

/** What the step adds as this event. Checks with the same id share a state, to which the step is added once. */
function additions(step: Undecided, view: MemoryView, event: StepEvent): MemoryAddition[] {
  const { call } = step;
  const made: MemoryAddition[] = [];
  const counts = ({ onStoreError }: MemoryRule): boolean =>
    view.source === 'store' || onStoreError === 'local';
  const add = ({ rule, ruleId }: MemoryLeaf, key: MemoryKey, delta: MemoryAddition['delta'] | null): void => {
    if (delta === null || view.isFull(key)) return;
    const { kind, keepUs, onStoreError } = rule;
    made.push({ key, kind, ruleId, delta, keepUs, isLocal: onStoreError === 'local' });
  };
  const consumed = new Set<string>();
  for (const [leaf, key] of step.open) {
    const { rule, ruleId } = leaf;
    if (rule.consume === undefined || 'missing' in key || !counts(rule)) continue;
    if (consumed.has(ruleId) || view.isRepeated(key)) continue;
    consumed.add(ruleId);
    const state = view.state(key, rule.kind, ruleId);
    add(leaf, key, rule.consume(state, call, event, momentOf(view, ruleId, false)));
  }
  for (const { leaf } of step.recorders) {
    const { rule, ruleId } = leaf;
    if (rule.records?.events.includes(event) !== true || !counts(rule)) continue;
    for (const { key, delta } of rule.records.of(call, event, momentOf(view, ruleId, false))) {
      const own = step.keyed(key);
      if (!view.isRepeated(own)) add(leaf, own, delta);
    }
  }
  const settled = new Set<string>();
  for (const { leaf, key, isOpen } of step.settled) {
    const { rule, ruleId } = leaf;
    if (settled.has(ruleId) || view.isRepeated(key) || !counts(rule)) continue;
    settled.add(ruleId);
    const state = view.state(key, rule.kind, ruleId);
    add(leaf, key, rule.settle?.(state, call, isOpen, momentOf(view, ruleId, false)) ?? null);
  }
  return made;
}
