import type { ErrorObject } from 'ajv';
import {
  hasOnlyExactNumbers,
  type JsonObject,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import {
  dialectOf,
  linearEngine,
  MAX_REGISTERED_CHECK_WORK,
  OPTIONS,
  schemaBoundsProblem,
  schemaWork,
  type WorkBudget,
} from '../../../packages/json-schema/src/index.js';
import { FIELD_REQUIRED } from '../../contract/input/messages.js';
import type { ConfigProblem } from '../config-members.js';

/** Longest configuration, as JSON text, in characters: it is sent to a worker with every check. */
export const MAX_CONFIG_LENGTH = 64 * 1024;
/** Most problems reported for one configuration. */
const MAX_PROBLEMS = 50;

/**
 * Compiles the JSON Schema of a configuration to a function that returns the problems of one. Throws when the
 * schema is invalid or cannot be checked in bounded time.
 */
export function createConfigValidator(schema: JsonObject): (config: JsonObject) => ConfigProblem[] {
  const bounds = schemaBoundsProblem(schema);
  if (bounds !== undefined) throw new Error(`"configSchema" is not supported: ${bounds}`);
  const { $schema: dialect, $id: _, ...members } = schema;
  const { Validator, meta } = dialectOf(dialect);
  if (meta().validateSchema(members) !== true) {
    throw new Error(`"configSchema" is no valid JSON Schema: ${meta().errorsText()}`);
  }
  const code = { ...OPTIONS.code, regExp: linearEngine(() => undefined) };
  const check = new Validator({ ...OPTIONS, code, allErrors: true }).compile(members);
  const work: WorkBudget = { left: 0 };
  const spend = schemaWork(members, work);

  return (config) => {
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
      work.left = MAX_REGISTERED_CHECK_WORK;
      spend(config);
    } catch (error) {
      const message = `the schema of the configuration ${error instanceof Error ? error.message : 'fails'}`;
      return [problem('value_error', message, [], config)];
    }
    if (check(config) === true) return [];
    return (check.errors ?? []).slice(0, MAX_PROBLEMS).map((error) => problemOf(error, config));
  };
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

function problemOf(error: ErrorObject, config: JsonObject): ConfigProblem {
  const { keyword, params } = error;
  const { path, found } = resolvePointer(error.instancePath, config);
  const message = error.message ?? 'is invalid';
  if (keyword === 'required') {
    return problem('missing', FIELD_REQUIRED, [...path, String(params.missingProperty)], undefined);
  }
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    return problem('extra_forbidden', 'there is no such member here', [...path, name], undefined);
  }
  if (keyword === 'type')
    return problem(TYPE_CODES[params.type as string] ?? 'value_error', message, path, found);
  return problem(KEYWORD_CODES[keyword] ?? 'value_error', message, path, found);
}

/** The target of a JSON Pointer, and its path with indexes as numbers. */
function resolvePointer(
  pointer: string,
  root: JsonObject,
): { readonly path: PropertyKey[]; readonly found: JsonValue | undefined } {
  const path: PropertyKey[] = [];
  let found: JsonValue | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) {
      path.push(Number(name));
      found = found[Number(name)];
    } else {
      path.push(name);
      found = (found as JsonObject | undefined)?.[name];
    }
  }
  return { path, found };
}
