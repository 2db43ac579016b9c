import { z } from 'zod';
import { field, refuse, report } from '../contract/input/fields.js';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.js';

/** What is wrong with one member of a configuration. */
export interface ConfigProblem {
  /** Issue code of the contract: `missing`, `value_error`, `string_type` … */
  readonly code: string;
  readonly message: string;
  /** Path of the member within the configuration. */
  readonly path: readonly PropertyKey[];
  /** What was sent; undefined for what is missing. */
  readonly input: JsonValue | undefined;
}

/** A schema for configurations that a function checks. They are kept as they were sent. */
export function configSchemaOf(
  problemsOf: (config: JsonObject) => readonly ConfigProblem[],
): z.ZodType<JsonObject> {
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
    const problems = problemsOf(value);
    for (const { code, message, path, input } of problems) report(sink, code, message, input, [...path]);
    return problems.length === 0 ? value : z.NEVER;
  });
}
