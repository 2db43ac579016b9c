/** What the service gives an optional evaluator, and what it gets. The service checks that both sides agree. */

/** JSON as the service holds it: an integer beyond 2^53 is a bigint. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** What the package is given. It reads nothing from the environment. */
export interface HostOptions {
  /** Sent as bearer token; null when it is not configured. */
  readonly apiKey: string | null;
  /** Base address of the endpoint; null when it is not configured. */
  readonly apiUrl: string | null;
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
  readonly timeoutMs: number;
  evaluate(data: JsonValue, call: { readonly signal: AbortSignal }): Promise<EvaluatorResult>;
}
