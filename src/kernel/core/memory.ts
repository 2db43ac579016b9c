import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Stage, Step } from './step.js';

/**
 * Checks whose answer depends on earlier steps. An evaluator makes a rule of its configuration; a rule reads what is kept
 * for its key, answers, and says what the step adds. Rules are pure: what is kept, and the time, are passed in. Where it is
 * kept, and how it stays exact among processes, is up to `StepMemory`.
 */

/** Kinds of rules: one for each evaluator with memory. */
export const RULE_KINDS = ['history', 'rate', 'budget', 'concurrency', 'loop'] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

/** What becomes of a step, as an event of its history. */
export const STEP_EVENTS = ['request', 'denied', 'response', 'error'] as const;
/**
 * `request`: allowed before it runs. `denied`: not allowed, whether by deny or by steer. `response`: it has run. `error`: it
 * failed. An event of a step that was denied is never a response or an error.
 */
export type StepEvent = (typeof STEP_EVENTS)[number];

/** Whose step it is, besides its data. */
export interface StepIdentity {
  readonly namespace: string;
  /** Name of the agent, normalised. */
  readonly agent: string;
  readonly sessionId: string | null;
  /** The same before and after the step, and when the call is repeated. */
  readonly stepId: string | null;
  /** Why the step failed; null at the stage pre, and when it did not fail. */
  readonly error: string | null;
}

/** What a rule is called with. */
export interface MemoryCall {
  readonly step: Step;
  readonly stage: Stage;
  readonly identity: StepIdentity;
}

/** A key: what is counted together. Keys with the same parts have one cell, whichever rules and controls they are of. */
export interface MemoryKey {
  /**
   * Texts that identify it within the namespace. The first says what the others are, such as `session`; equal parts of
   * different meaning must differ in it.
   */
  readonly parts: readonly string[];
  /** As it is shown in lists: sessions and agents by their names, other values as short hashes. */
  readonly label: string;
}

/** A part of a key that the step lacks. */
export interface MissingPart {
  /** `session_id`, `step_id`, or a path, such as `input.account`. */
  readonly missing: string;
}

/** What a step adds to the state of a rule: plain JSON of small size. Its form is known to the reducer of the kind. */
export type Delta = JsonValue;

/** What a rule keeps for a key: plain JSON, so that it can be written, sent to a thread, and compared. */
export type RuleState = JsonValue;

/** State of a limit, for callers. Times are in microseconds. */
export interface LimitState {
  readonly limit: number;
  /** At least 0. */
  readonly remaining: number;
  /** Until all of it is available again; null if that does not happen by itself. */
  readonly resetsAfterUs: number | null;
  /** After which the step may be repeated with a chance to pass; null unless the limit is reached and time alone helps. */
  readonly retryAfterUs: number | null;
  readonly windowUs: number | null;
}

/** Why a limit was not applied as it is meant to be. */
export type Degraded = 'store_unavailable' | 'local' | 'missing_key';

/** A limit that was applied to a step, as callers see it. */
export interface AppliedLimit extends LimitState {
  readonly controlId: number;
  readonly controlName: string;
  readonly evaluatorName: string;
  /** The label of the key. */
  readonly key: string;
  readonly degraded: Degraded | null;
  /** Since when the rule is recorded, in microseconds since 1970; null if that is not known. */
  readonly sinceUs: number | null;
}

/** Answer of a rule. */
export interface MemoryAnswer {
  readonly matched: boolean;
  /** A function where it is not made unless it is used: most answers are only counted. Called as a method of the answer. */
  readonly message: string | (() => string);
  /** Details, with the names of docs/memory.md. */
  readonly metadata: JsonObject | (() => JsonObject);
  /** Null for a rule without a limit. */
  readonly limit: LimitState | null;
  /** Why the rule cannot answer, such as a value that is no number. It fails closed. Null if it can. */
  readonly error: string | null;
  /** Whether the error quotes values or expressions: then only the operator reads it. False if absent. */
  readonly isErrorInternal?: boolean;
}

/** What is known when a rule answers. */
export interface MemoryMoment {
  /** Microseconds since 1970, by the clock of the store. Greater than the time of every entry of the key. */
  readonly nowUs: number;
  /** Since when the rule is recorded in this namespace, in microseconds since 1970; null if that is not known. */
  readonly sinceUs: number | null;
  /**
   * Whether a step with this id was allowed at this stage before and is in the state already: then the answer is that of
   * a step that was counted, and it is not counted again.
   */
  readonly isRepeated: boolean;
  /** Keyed hash of the agent, session and step id; null without a step id. Identifies reservations and slots. */
  readonly stepHash: string | null;
  /** Keyed hash of a text, 22 characters. Values of steps are kept as hashes unless they are compared by order or added. */
  hash(text: string): string;
}

/** An event or a settlement of a step, for rules that record steps whether or not their control applies to them. */
export interface MemoryRecord {
  readonly key: MemoryKey;
  readonly delta: Delta;
}

/** A compiled check with memory. */
export interface MemoryRule {
  readonly kind: RuleKind;
  /**
   * Hash of what of the configuration its state depends on, 1 to 32 characters of base64url: a change of a threshold keeps the
   * state, a change of the key or the window begins anew.
   */
  readonly fingerprint: string;
  /** Whether each control has a state of its own; otherwise rules with the same fingerprint share it. */
  readonly isPerControl: boolean;
  /** What a step does that lacks a part of the key: `deny` makes the check an error, with `skip` it does not match. */
  readonly onMissing: 'deny' | 'skip';
  /** What happens while the store does not answer: an error, no match, or the memory of this process alone. */
  readonly onStoreError: 'deny' | 'allow' | 'local';
  /** Longest time that anything of its state matters, in microseconds. */
  readonly keepUs: number;
  /**
   * Key of the present step: what the rule answers by and counts under. `hash` as in `MemoryMoment`. Never throws; reads
   * the step only.
   */
  keyOf(call: MemoryCall, hash: (text: string) => string): MemoryKey | MissingPart;
  /** Answers for the present step. `state` is undefined when nothing is kept. Pure and bounded. */
  answer(state: RuleState | undefined, call: MemoryCall, moment: MemoryMoment): MemoryAnswer;
  /**
   * What the step adds under its key, once it is decided: `event` is `request` or `denied` at the stage pre, `response` or
   * `error` at post. Called only if the control applies to the step and its stateless parts leave the check open, and not for
   * repeated steps. Null to add nothing, the usual case for a denied step. Absent for rules that only record.
   */
  consume?(
    state: RuleState | undefined,
    call: MemoryCall,
    event: StepEvent,
    moment: MemoryMoment,
  ): Delta | null;
  /** Which steps it records whether or not its control applies to them; absent for none. */
  readonly records?: {
    readonly events: readonly StepEvent[];
    /** Null for every name. */
    readonly stepNames: ReadonlySet<string> | null;
    /** All keys that `of` may return for the step, known before it is decided. */
    keys(call: MemoryCall, hash: (text: string) => string): readonly MemoryKey[];
    /** What the step adds as this event. Not called for repeated steps. Never throws. */
    of(call: MemoryCall, event: StepEvent, moment: MemoryMoment): readonly MemoryRecord[];
  };
  /**
   * What the end of a step adds to what it reserved before it ran, for rules that reserve: called at the stage post under the
   * key of the step, if the scope of the control includes the step at pre. `isOpen` tells whether the stateless parts of the
   * control leave the check open. Null to add nothing.
   */
  settle?(
    state: RuleState | undefined,
    call: MemoryCall,
    isOpen: boolean,
    moment: MemoryMoment,
  ): Delta | null;
  /** What is kept, for an administrator. */
  describe(state: RuleState, nowUs: number): { readonly limit: LimitState | null; readonly kept: JsonObject };
}

/**
 * How states of a kind of rules grow: a pure fold, independent of configurations, so that every process can follow entries
 * of rules that it does not have. Whatever it needs, such as a window, is in the delta.
 */
export interface RuleReducer {
  /** The state after an entry. May change and return `state`. Never throws: what it does not understand it ignores. */
  apply(state: RuleState | undefined, delta: Delta, atUs: number, stepHash: string | null): RuleState;
  /** The state without what cannot matter any more; undefined if nothing is left. May change and return `state`. */
  prune(state: RuleState, nowUs: number): RuleState | undefined;
  /** Used share of the limit, 0 to 1; 0 for a state without one. */
  used(state: RuleState, nowUs: number): number;
}

/** What is kept for the keys of a step, at one moment. Valid within one call of `decide`. */
export interface MemoryView {
  /** `local`: the store does not answer, and only what this process knows by itself is here. */
  readonly source: 'store' | 'local';
  readonly nowUs: number;
  readonly stepHash: string | null;
  hash(text: string): string;
  state(key: MemoryKey, kind: RuleKind, ruleId: string): RuleState | undefined;
  /** See `MemoryMoment.isRepeated`, for a key. At the stage post, every step whose end was recorded under it. */
  isRepeated(key: MemoryKey): boolean;
  /** Whether a step with this id, but with other content, was allowed before: an id names one step. Only at the stage pre. */
  isReused(key: MemoryKey): boolean;
  /**
   * Whether what is kept for the key cannot be read: then its rules are errors, whatever they do when the store does not
   * answer. It has no states. A reset of the key cures it.
   */
  isDamaged(key: MemoryKey): boolean;
  /** Whether nothing is kept for the key and there is no room to begin with it: then its rules are errors as well. */
  isFull(key: MemoryKey): boolean;
  /** Whether the step was denied before it ran: it has no response and no error. */
  readonly wasDenied: boolean;
  sinceUs(ruleId: string): number | null;
}

/** An addition to the state of a rule under a key. */
export interface MemoryAddition {
  readonly key: MemoryKey;
  readonly kind: RuleKind;
  readonly ruleId: string;
  readonly delta: Delta;
  /** See `MemoryRule`. */
  readonly keepUs: number;
  /** Whether it may be added to the memory of this process alone, when the store does not answer. */
  readonly isLocal: boolean;
}

/** What was decided about a step. */
export interface MemoryDecision<T> {
  readonly value: T;
  /** Whether the step may run: a repeated one is then not counted again, and its end is recorded. */
  readonly allowed: boolean;
  readonly additions: readonly MemoryAddition[];
}

/** A step to be decided with memory. */
export interface MemoryPlan<T> {
  readonly identity: StepIdentity;
  readonly stage: Stage;
  /** Every key whose state `decide` reads or adds to. */
  readonly keys: readonly MemoryKey[];
  /** The rules whose age `decide` reads. */
  readonly ruleIds: readonly string[];
  /**
   * Whether it matters at the end of the step that it was denied: at the stage pre a denial is then remembered, and at post
   * `wasDenied` tells of it, so that the end is not recorded as a response.
   */
  readonly marksDenied: boolean;
  /** Hash of the content of a step that has an id, before it runs; null otherwise. A repeated step has the same content. */
  readonly stepDigest?: string | null;
  /** Whether nothing is added: for explanations. */
  readonly isTrial: boolean;
  /**
   * Decides by what is kept. Synchronous, without effects: it is called again when another process was faster, and the last
   * call counts.
   */
  decide(view: MemoryView): MemoryDecision<T>;
}

/** Decides steps with what is kept of earlier ones. Exact among all processes that share a store. */
export interface StepMemory {
  /**
   * Keyed hash of a text, 22 characters; the key is that of the store. While the store was never reached, a key of this
   * process, after the time limit of the store: plans with such hashes are decided with a view of the source `local`.
   */
  ready(): Promise<(text: string) => string> | ((text: string) => string);
  /**
   * Resolves once the additions of the decision are durable. While the store does not answer, the decision is made with a
   * view of the source `local`. Rejects when `signal` is aborted before the decision is sent to the store.
   */
  run<T>(plan: MemoryPlan<T>, signal?: AbortSignal): Promise<T>;
}
