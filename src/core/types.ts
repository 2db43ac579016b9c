import type { JsonObject, JsonValue } from '../json/json-value.js';

/** When, relative to the step, it is evaluated. */
export type Stage = 'pre' | 'post';

/** What a matching control does. */
export type Decision = 'deny' | 'steer' | 'observe';

/** How much of a verdict is built: with `verdict` no non-matches, metadata or traces come into being. */
export type Detail = 'verdict' | 'full';

/** The step an agent is about to take, or has taken. */
export interface Step {
  readonly type: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly context: JsonObject | null;
}

/** What one evaluator said about the data a selector selected. `error` set implies `matched` false. */
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

/** What one control said about a step. Field names are those of the wire. */
export interface ControlResult {
  readonly control_execution_id: string;
  readonly control_id: number;
  readonly control_name: string;
  readonly action: Decision;
  readonly result: EvaluatorResult;
  readonly steering_context: SteeringContext | null;
}

/** The answer to "may this step go on?". */
export interface Verdict {
  readonly is_safe: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  readonly reason: string | null;
  readonly matches: ControlResult[];
  readonly errors: ControlResult[];
  /** Empty with detail `verdict`. */
  readonly non_matches: ControlResult[];
}

/** A control as the core takes it: the stored definition, already parsed as JSON but not trusted. */
export interface ControlInput {
  readonly id: number;
  readonly name: string;
  /** The stored definition; anything at all when the stored data are damaged. */
  readonly definition: JsonValue;
}

/** Something compiled that takes memory. */
export interface SizedPart {
  /** About how many bytes it takes. An estimate that grows with what it is made from. */
  readonly sizeBytes: number;
}

/**
 * The controls of one agent, compiled. Immutable. Verdicts share objects with it and with each other, so they are not
 * to be changed.
 */
export interface ControlProgram extends SizedPart {
  /**
   * Parts that other programs may hold too, each once. `sizeBytes` is without them: whoever adds up programs counts a
   * part once, however many of them hold it.
   */
  readonly sharedParts: readonly SizedPart[];
  /** Ids of all linked controls, those that never take part in evaluation included. */
  readonly controlIds: readonly number[];
  /**
   * Evaluates a step. Returns a promise only when an asynchronous evaluator had to run, or
   * when the checks take so long that everything else has to have a turn in between. Never throws and never
   * rejects: what cannot be evaluated is an entry of `errors`, and fails closed.
   */
  evaluate(step: Step, stage: Stage, detail: Detail): Verdict | Promise<Verdict>;
}
