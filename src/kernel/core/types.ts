import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ChangedStep, LiftableControl, Lifts, UnchangeableStep } from './lift.js';
import type { AppliedLimit, StepIdentity, StepMemory } from './memory.js';
import type { Stage, Step } from './step.js';

export { STAGES, type Stage, type Step } from './step.js';

/** Effect of a matching control. */
export const DECISIONS = ['deny', 'steer', 'observe'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Where a control is evaluated. */
export const EXECUTIONS = ['server', 'sdk'] as const;
export type Execution = (typeof EXECUTIONS)[number];

/** Detail of a verdict: with `verdict`, no non-matches, metadata or traces are created. */
export type Detail = 'verdict' | 'full';

/** The agent whose step is evaluated, as expressions read it. */
export interface AgentFacts {
  /** Normalised. */
  readonly name: string;
  /** The metadata of its registration, empty without any; null where they are not known. */
  readonly metadata: JsonObject | null;
}

/** Result of one evaluator for the selected data. `error` set implies `matched` false. */
export interface EvaluatorResult {
  readonly matched: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  readonly message: string | null;
  readonly metadata: JsonObject | null;
  readonly error: string | null;
}

/** Guidance of a control, as stored. */
export interface SteeringContext {
  readonly message: string;
  readonly required_actions?: readonly string[];
}

/** Result of one control for a step. Field names are those of the wire. */
export interface ControlResult {
  readonly control_execution_id: string;
  readonly control_id: number;
  readonly control_name: string;
  readonly action: Decision;
  readonly result: EvaluatorResult;
  readonly steering_context: SteeringContext | null;
}

/** Result of evaluating a step. */
export interface Verdict {
  readonly is_safe: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  readonly reason: string | null;
  readonly matches: ControlResult[];
  readonly errors: ControlResult[];
  /** Empty with detail `verdict`. */
  readonly non_matches: ControlResult[];
  /** Number of controls that apply to the step by their scope, or whose scope cannot be used. */
  readonly selected_controls: number;
  /** Number of these that were evaluated without an error. */
  readonly evaluated_controls: number;
  /** Number of these that were neither evaluated nor failed: the verdict was decided before. */
  readonly skipped_controls: number;
  /** The limits of controls with memory, the one with the smallest remaining share first. Absent without any. */
  readonly limits?: readonly AppliedLimit[];
}

/** What a program with memory is evaluated with. */
export interface RememberedStep {
  readonly memory: StepMemory;
  readonly identity: StepIdentity;
  /** Whether nothing is added to what is kept: for explanations. */
  readonly isTrial: boolean;
  /** Whether the step is denied whatever the controls say. Then it is at most recorded as denied. */
  readonly isDenied: boolean;
}

/** A control as input of the core: the stored definition, already parsed as JSON but not trusted. */
export interface ControlInput {
  readonly id: number;
  readonly name: string;
  /** The stored definition; any value when the stored data are damaged. */
  readonly definition: JsonValue;
}

/** What is read of an agent: nothing, its name alone, or its metadata as well. */
export type AgentReading = 'nothing' | 'name' | 'metadata';

/** A compiled object with a size estimate. */
export interface SizedPart {
  /** Estimated memory in bytes. Grows with the input it is made from. */
  readonly sizeBytes: number;
}

/** What a program knows of its controls whose match may be lifted. */
export interface ProgramLifts {
  /** What is left to do about a verdict of the program; null if it is safe, or if anything else makes it unsafe. */
  of(verdict: Verdict): Lifts | null;
  /**
   * The step as these controls change it, in this order; places that several of them find in one text are merged. They must
   * be the `changing` of a verdict of the program about this step. Never throws and never rejects.
   */
  change(
    step: Step,
    stage: Stage,
    changing: readonly LiftableControl[],
    caller?: { readonly signal: AbortSignal },
    agent?: AgentFacts | null,
  ): ChangedStep | UnchangeableStep | Promise<ChangedStep | UnchangeableStep>;
}

/**
 * The compiled controls of one agent. Immutable. Verdicts share objects with it and with each other, so they
 * must not be modified.
 */
export interface ControlProgram extends SizedPart {
  /**
   * Parts that other programs may share, each once. `sizeBytes` excludes them: adding up programs counts a
   * shared part once.
   */
  readonly sharedParts: readonly SizedPart[];
  /** Ids of all linked controls, those that never take part in evaluation included. */
  readonly controlIds: readonly number[];
  /** Whether no control takes part in evaluation, so that every step is allowed, or denied if the service is set so. */
  readonly isEmpty: boolean;
  /** What of the agent its checks read. */
  readonly readsAgent: AgentReading;
  /** Whether it has checks that depend on earlier steps: then it is evaluated with what is kept of them. */
  readonly remembers: boolean;
  /** Controls whose match may be lifted; null without any, the usual case. */
  readonly lifts: ProgramLifts | null;
  /**
   * Evaluates a step. Returns a promise only when an asynchronous evaluator had to run, or when the checks
   * take long enough to yield to the event loop in between. Never throws and never rejects: what cannot be
   * evaluated is an entry of `errors`, and fails closed.
   *
   * The signal of the caller is read only when evaluators have to be awaited. Once it is aborted, external ones are
   * stopped, and the verdict lacks their controls: it must not be used as a verdict.
   *
   * `spent` is the work that was already done for the step in this turn, in search steps. `agent` is needed where
   * `readsAgent` is not `nothing`: without it, checks that read it are errors. `remembered` is needed where `remembers` is
   * true: without it, checks with memory are errors. Matches of the controls in `lifted` do not make the step unsafe.
   */
  evaluate(
    step: Step,
    stage: Stage,
    detail: Detail,
    caller?: { readonly signal: AbortSignal },
    spent?: number,
    agent?: AgentFacts | null,
    remembered?: RememberedStep | null,
    lifted?: ReadonlySet<number>,
  ): Verdict | Promise<Verdict>;
}
