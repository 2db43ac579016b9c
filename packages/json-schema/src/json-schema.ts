import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { estimateCost, shorten } from '../../linear-text/src/index.js';
import { boundsProblem, countValues } from './bounds.js';
import {
  compileRegisteredSchema,
  MAX_REGISTERED_CHECK_WORK,
  MAX_REGISTERED_SCHEMA_VALUES,
  type RegisteredSchema,
} from './registered-schema.js';
import { describeProblem } from './run.js';
import { SchemaError } from './schema-error.js';
import { Work } from './work.js';

/** Most values of all schemas that one validator compiles. */
export const MAX_COMPILED_VALUES = 5_000;
/** Compiled instructions of a pattern, and code points of its classes, per value in compile time. */
const INSTRUCTIONS_PER_VALUE = 50;
const CLASS_WORK_PER_VALUE = 2_000;
/** Longest explanation, in characters: it quotes schemas. */
const EXPLANATION_LENGTH = 300;

/** Checks values against external JSON Schemas, with one budget for all of them. */
export interface SchemaValidator {
  /**
   * Why a value does not satisfy a schema; undefined when it does. No value satisfies a schema that is
   * invalid, too large or too costly. Each schema object is compiled once.
   */
  problem(schema: JsonObject, value: JsonValue): string | undefined;
}

/** Creates a validator for one request. */
export function createSchemaValidator(): SchemaValidator {
  const known = new Map<JsonObject, RegisteredSchema | string>();
  let left = MAX_REGISTERED_CHECK_WORK;
  let compilable = MAX_COMPILED_VALUES;

  function compile(schema: JsonObject): RegisteredSchema | string {
    const isWithinBounds = boundsProblem(schema, MAX_REGISTERED_SCHEMA_VALUES) === undefined;
    if (isWithinBounds) compilable -= countValues(schema);
    if (compilable < 0) return 'the registered schemas cost too much to compile together';
    try {
      return compileRegisteredSchema(schema, spendOnPattern);
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      const what = error.rejection === 'invalid' ? 'invalid' : 'not supported';
      return shorten(`the registered schema is ${what}: ${error.detail}`, EXPLANATION_LENGTH);
    }
  }

  function spendOnPattern(pattern: string): void {
    const { instructions, classWork } = estimateCost(pattern, false);
    compilable -= instructions / INSTRUCTIONS_PER_VALUE + classWork / CLASS_WORK_PER_VALUE;
    if (compilable >= 0) return;
    const message = 'has patterns that cost too much to compile';
    throw new SchemaError(message, 'unsupported', 'its patterns cost too much to compile');
  }

  return {
    problem(schema, value) {
      let compiled = known.get(schema);
      if (compiled === undefined) {
        compiled = compile(schema);
        known.set(schema, compiled);
      }
      if (typeof compiled === 'string') return compiled;
      const work = new Work(left);
      try {
        const [problem] = compiled.problems(value, 1, work);
        return problem && shorten(describeProblem(problem, 'configuration'), EXPLANATION_LENGTH);
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        return shorten(`the registered schema ${error.message}`, EXPLANATION_LENGTH);
      } finally {
        left -= work.spent;
      }
    },
  };
}
