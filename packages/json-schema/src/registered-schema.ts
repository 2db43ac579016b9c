import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { compileSchema } from './compile-schema.js';
import { Run, type SchemaProblem } from './run.js';
import { SchemaError } from './schema-error.js';
import { Work, WorkError } from './work.js';

/** Most values of a registered schema: less than of a `json` evaluator, as a request may need many schemas. */
export const MAX_REGISTERED_SCHEMA_VALUES = 2_000;
/** Most work of all checks of one validator: a tenth of a second. */
export const MAX_REGISTERED_CHECK_WORK = 1_000_000;

/** Checks a value; throws a SchemaError when that is impossible within the work left. */
export interface RegisteredSchema {
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
  return {
    problems(value, most, work = new Work(MAX_REGISTERED_CHECK_WORK)) {
      const run = new Run(work, most === 1 ? 'first' : 'all', most);
      try {
        return check(value, null, run) ? [] : run.problems;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'it fails';
        throw new SchemaError(
          error instanceof WorkError ? 'costs too much to check' : `cannot be applied: ${reason}`,
        );
      }
    },
  };
}
