import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { estimateCost, shorten } from '../../linear-text/src/index.js';
import { boundsProblem, countValues } from './bounds.js';
import { compileSchema } from './compile-schema.js';
import { describeProblem, Run, type SchemaProblem } from './run.js';
import { SchemaError } from './schema-error.js';
import { Work, WorkError } from './work.js';

/** Most values of a registered schema: less than of a `json` evaluator, as a request may need many schemas. */
export const MAX_REGISTERED_SCHEMA_VALUES = 2_000;
/** Most work of all checks of one validator: a tenth of a second. */
const MAX_REGISTERED_CHECK_WORK = 1_000_000;
/** Most values of all schemas that one validator compiles. */
const MAX_COMPILED_VALUES = 5_000;
/** Compiled instructions of a pattern, and code points of its classes, per value in compile time. */
const INSTRUCTIONS_PER_VALUE = 50;
const CLASS_WORK_PER_VALUE = 2_000;
/** Longest explanation, in characters: it quotes schemas. */
const EXPLANATION_LENGTH = 300;

/** Checks a value; throws a SchemaError when that is impossible within the work left. */
export interface RegisteredSchema {
  /** Whether a value satisfies the schema: cheaper than its problems. */
  isSatisfiedBy(value: JsonValue, work: Work): boolean;
  /** The first problems of a value, at most `most`. */
  problems(value: JsonValue, most: number, work?: Work): readonly SchemaProblem[];
}

/**
 * Compiles the schema of a configuration: draft 4, 6 and 7 as draft 7 if `$schema` states one of them, else
 * 2020-12. Throws a SchemaError.
 */
export function compileRegisteredSchema(
  schema: JsonObject,
  spendOnPattern?: (pattern: string) => void,
): RegisteredSchema {
  const { $schema: stated, $id: _, $async: __, ...members } = schema;
  const check = compileSchema(members, {
    dialect: typeof stated === 'string' && /draft-0[467]/.test(stated) ? 'draft-07' : '2020-12',
    lenient: true,
    mostValues: MAX_REGISTERED_SCHEMA_VALUES,
    ...(spendOnPattern && { spendOnPattern }),
  });
  const applied = (value: JsonValue, run: Run): boolean => {
    try {
      return check(value, null, run);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it fails';
      throw new SchemaError(
        error instanceof WorkError ? 'costs too much to check' : `cannot be applied: ${reason}`,
      );
    }
  };
  return {
    isSatisfiedBy: (value, work) => applied(value, new Run(work, 'validity')),
    problems(value, most, work = new Work(MAX_REGISTERED_CHECK_WORK)) {
      const run = new Run(work, most === 1 ? 'first' : 'all', most);
      return applied(value, run) ? [] : run.problems;
    },
  };
}

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
