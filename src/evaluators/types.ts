import type { z } from 'zod';
import type { Detail, EvaluatorResult } from '../evaluation/types.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';

/** What a check is told beside the data. */
export interface CheckCall {
  /** What is wanted: with `verdict` nobody looks at metadata, so they need not be built. */
  readonly detail: Detail;
  /** Aborted when nobody waits for the answer any more: its time is up, or the step is denied already. */
  readonly signal: AbortSignal;
}

/** A configured evaluator, ready to look at data. */
export interface CompiledEvaluator {
  /** Time limit of one check with this configuration, in milliseconds; the one of the evaluator when absent. */
  readonly timeoutMs?: number;
  /** Looks at the selected data; null when the selector led nowhere. May throw: the core turns that into an error. */
  evaluate(data: JsonValue, call: CheckCall): EvaluatorResult | Promise<EvaluatorResult>;
}

/** What an evaluator that works outside the main thread is doing; asked for when somebody reads the metrics. */
export interface EvaluatorStatus {
  /** Checks under way. */
  readonly running: number;
  /** Checks that wait for their turn. */
  readonly queued: number;
  /** How often a worker had to be replaced. */
  readonly workerRestarts?: number;
  /** State of the circuit breaker in front of a remote endpoint. */
  readonly breaker?: BreakerState;
  /** Checks that failed and were answered all the same, as the configuration says (`on_error`). */
  readonly answeredErrors?: number;
  /** Those of `answeredErrors` that ran out of time. */
  readonly answeredTimeouts?: number;
}

/** `open` calls nobody, `half_open` makes one call to see whether the endpoint answers again. */
export type BreakerState = 'closed' | 'half_open' | 'open';

/** An evaluator of the service. */
export interface Evaluator {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly requiresApiKey: boolean;
  /** Time limit of one check, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Whether it asks somebody elsewhere. Such checks begin when all local controls have been looked at, and are left
   * out once a deny has matched.
   */
  readonly external?: boolean;
  /** Validates a configuration, with the issue codes of `validation/`. */
  readonly configSchema: z.ZodType;
  /** JSON Schema of the configuration, as shown to clients. */
  readonly configJsonSchema: JsonObject;
  /**
   * About how much work validating and compiling a configuration takes, in compiled instructions; 0 for anything
   * that is no configuration. Absent when it takes next to nothing.
   */
  readonly compileCost?: (config: JsonObject) => number;
  /** Compiles a configuration that `configSchema` accepts. Throws on one that it does not. */
  compile(config: JsonObject): CompiledEvaluator;
  /** What it is doing now. Absent when it works in the main thread and waits for nobody. */
  status?(): EvaluatorStatus;
  /** Lets go of threads and connections. Checks that are under way fail. */
  close?(): Promise<void>;
}

/** Evaluators by name. */
export type EvaluatorRegistry = ReadonlyMap<string, Evaluator>;
