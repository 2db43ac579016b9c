/**
 * For authors of evaluators: `import { defineEvaluator } from '@control-enforcement/evaluator-sdk'`.
 * docs/custom-evaluators.md describes how to write, install and use one.
 */
import type { z } from 'zod';

/**
 * JSON as evaluators receive it. An integer beyond 2^53 is a bigint, so that no digit is lost; every other
 * number is a number. Data with a number that a double cannot represent as written, such as
 * 0.12345678901234567890, are not passed to an evaluator: the check is an error.
 */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** A JSON Schema (2020-12 unless `$schema` says draft 7). Patterns are RE2's: no look-around, no back-references. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Result of an evaluator for the data. */
export interface EvaluatorAnswer {
  /** Whether the condition holds. A match of a deny control makes the step unsafe. */
  readonly matched: boolean;
  /** Confidence, 0 to 1; 1 when absent. */
  readonly confidence?: number;
  /** Shown to the caller. */
  readonly message?: string | null;
  /** Facts for the caller, as JSON. With the rest of the answer at most 256 KiB of JSON text. */
  readonly metadata?: { readonly [key: string]: unknown } | null;
  /**
   * Where it matches, for data that are a text: within the text, in the order of their starts. Controls that replace what
   * was found (`action.modify`) call `evaluate` once more for each text, and deny the step if a match has no spans.
   */
  readonly spans?: readonly TextSpan[] | null;
}

/** A part of a text, in UTF-16 code units as in `text.slice(start, end)`. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Context of a check besides data and configuration. */
export interface EvaluatorContext {
  /** Aborted when the answer is no longer awaited. */
  readonly signal: AbortSignal;
}

/** An evaluator. */
export interface EvaluatorDefinition<Config = unknown> {
  /** Name used by controls: 1 to 255 characters, letters, digits, `.`, `_`, `-`. Unique. */
  readonly name: string;
  /** For example `1.0.0`; shown to clients. */
  readonly version: string;
  readonly description?: string;
  /**
   * Schema of the configuration, as a zod 4 schema or as a JSON Schema of an object. Controls with another
   * configuration are rejected. A refinement that JSON Schema cannot express is checked when the control is
   * evaluated: a configuration that it rejects is an evaluator error.
   */
  readonly configSchema: z.ZodType<Config> | JsonSchema;
  /** Time limit of one check, in milliseconds, 1 to 3,600,000; EVALUATOR_TIMEOUT_SECONDS when absent. */
  readonly timeoutMs?: number;
  /** Whether it needs an API key of another service; only shown to clients. */
  readonly requiresApiKey?: boolean;
  /**
   * Checks the selected data, which are null when nothing was selected. Runs in a process of its own, one check at
   * a time in each. A thrown value is an evaluator error, and a deny control with an error makes the step
   * unsafe. `config` is the output of the zod schema, or the configuration unchanged.
   */
  evaluate(data: Json, config: Config, context: EvaluatorContext): EvaluatorAnswer | Promise<EvaluatorAnswer>;
}

/** Gives an evaluator its types, above all that of `config`. Use as default export of the module. */
export function defineEvaluator<Config>(
  definition: EvaluatorDefinition<Config>,
): EvaluatorDefinition<Config> {
  return definition;
}
