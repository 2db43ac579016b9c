/** What the service gives an optional evaluator, and what it gets. The service checks that both sides agree. */

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** What the package is given. It reads nothing from the environment. */
export interface HostOptions {
  /** Models as NAME=FOLDER; empty when none is mounted. */
  readonly onnxModels: readonly string[];
  /** The text of selected data, as all evaluators of the service see it. */
  textOf(data: JsonValue): string;
  readonly log: { warn(facts: object, message: string): void };
}

/** What is wrong with one member of a configuration. */
export interface ConfigProblem {
  readonly code: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
  readonly input: JsonValue | undefined;
}

export interface EvaluatorResult {
  readonly matched: boolean;
  readonly confidence: number;
  readonly message: string | null;
  readonly metadata: JsonObject | null;
  readonly error: string | null;
}

export interface CompiledEvaluator {
  evaluate(data: JsonValue, call: { readonly signal: AbortSignal }): Promise<EvaluatorResult>;
}

/** What a model says about a text. */
export interface Classification {
  /** Highest score of each label in all windows, 0 to 1, in order of the labels. */
  readonly scores: readonly number[];
  readonly windows: number;
  readonly tokens: number;
}

/** Limits of the process of one model. */
export interface ModelLimits {
  /** Longest time to load a model, in milliseconds. */
  readonly startMs: number;
  /** Longest time of a check, in the queue and in the model, in milliseconds. */
  readonly checkMs: number;
  /** Memory of the process, in MiB. */
  readonly memoryMib: number;
  /** Checks that wait for the model. */
  readonly queued: number;
  /** Longest text, in characters. */
  readonly characters: number;
  /** Most windows of a text. */
  readonly windows: number;
  /** Time after a failed start in which none is tried, in milliseconds. */
  readonly restartMs: number;
}

export const DEFAULT_LIMITS: ModelLimits = {
  startMs: 60_000,
  checkMs: 20_000,
  memoryMib: 4_096,
  queued: 64,
  characters: 200_000,
  windows: 128,
  restartMs: 5_000,
};
