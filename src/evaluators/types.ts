import type { z } from 'zod';
import type { EvaluatorResult } from '../evaluation/types.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';

/** A configured evaluator, ready to look at data. */
export interface CompiledEvaluator {
  /** Looks at the selected data; null when the selector led nowhere. May throw: the core turns that into an error. */
  evaluate(data: JsonValue): EvaluatorResult | Promise<EvaluatorResult>;
}

/** An evaluator of the service. */
export interface Evaluator {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly requiresApiKey: boolean;
  /** Time limit of one check, in milliseconds. */
  readonly timeoutMs: number;
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
}

/** Evaluators by name. */
export type EvaluatorRegistry = ReadonlyMap<string, Evaluator>;
