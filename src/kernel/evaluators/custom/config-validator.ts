import {
  hasOnlyExactNumbers,
  type JsonObject,
  type JsonValue,
} from '../../../../packages/exact-json/src/index.js';
import {
  compileRegisteredSchema,
  SchemaError,
  type SchemaProblem,
} from '../../../../packages/json-schema/src/index.js';
import { FIELD_REQUIRED } from '../../../contract/input/messages.js';
import type { ConfigProblem } from '../config/config-members.js';

/** Longest configuration, as JSON text, in characters: it is sent to a worker with every check. */
export const MAX_CONFIG_LENGTH = 64 * 1024;
/** Most problems reported for one configuration. */
const MAX_PROBLEMS = 50;

/**
 * Compiles the JSON Schema of a configuration to a function that returns the problems of one. Throws when the
 * schema is invalid or cannot be checked in bounded time.
 */
export function createConfigValidator(schema: JsonObject): (config: JsonObject) => ConfigProblem[] {
  const compiled = compileConfigSchema(schema);
  return (config) => {
    // The configuration is sent to the worker as JSON text, which the worker reads with JSON.parse.
    if (!hasOnlyExactNumbers(config)) {
      return [
        problem(
          'value_error',
          'integers beyond 2^53 and decimals with more digits than a double has are not supported here',
          [],
          config,
        ),
      ];
    }
    if (JSON.stringify(config).length > MAX_CONFIG_LENGTH) {
      const message = `the configuration must not be longer than ${MAX_CONFIG_LENGTH} characters`;
      return [problem('value_error', message, [], config)];
    }
    try {
      const problems = compiled.problems(config, MAX_PROBLEMS);
      return problems.flatMap((one) => problemsOf(one, config)).slice(0, MAX_PROBLEMS);
    } catch (error) {
      const message = `the schema of the configuration ${error instanceof Error ? error.message : 'fails'}`;
      return [problem('value_error', message, [], config)];
    }
  };
}

function compileConfigSchema(schema: JsonObject) {
  try {
    return compileRegisteredSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const what = error.rejection === 'invalid' ? 'no valid JSON Schema' : 'not supported';
    throw new Error(`"configSchema" is ${what}: ${error.detail}`, { cause: error });
  }
}

function problem(
  code: string,
  message: string,
  path: readonly PropertyKey[],
  input: JsonValue | undefined,
): ConfigProblem {
  return { code, message, path, input };
}

/** Contract codes for the types of JSON Schema. */
const TYPE_CODES: Readonly<Record<string, string>> = {
  string: 'string_type',
  integer: 'int_type',
  number: 'float_type',
  boolean: 'bool_type',
  array: 'list_type',
  object: 'dict_type',
};

/** Contract codes for other keywords; `value_error` where there is none. */
const KEYWORD_CODES: Readonly<Record<string, string>> = {
  enum: 'literal_error',
  const: 'literal_error',
  minLength: 'string_too_short',
  maxLength: 'string_too_long',
  pattern: 'string_pattern_mismatch',
  minimum: 'greater_than_equal',
  exclusiveMinimum: 'greater_than',
  maximum: 'less_than_equal',
  exclusiveMaximum: 'less_than',
  minItems: 'too_short',
  maxItems: 'too_long',
};

function problemsOf({ keyword, path, reason, names }: SchemaProblem, config: JsonObject): ConfigProblem[] {
  switch (keyword) {
    case 'required':
      return names.map((name) => problem('missing', FIELD_REQUIRED, [...path, name], undefined));
    case 'additionalProperties':
      return names.map((name) =>
        problem('extra_forbidden', 'there is no such member here', [...path, name], undefined),
      );
    case 'type': {
      const code = names.length === 1 ? TYPE_CODES[names[0] ?? ''] : undefined;
      return [problem(code ?? 'value_error', reason, path, valueAt(config, path))];
    }
    default:
      return [problem(KEYWORD_CODES[keyword] ?? 'value_error', reason, path, valueAt(config, path))];
  }
}

function valueAt(root: JsonObject, path: readonly (string | number)[]): JsonValue | undefined {
  let found: JsonValue | undefined = root;
  for (const key of path) found = (found as JsonObject | undefined)?.[key];
  return found;
}
