import { z } from 'zod';
import {
  isContainer,
  isObject,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
} from '../../../../packages/exact-json/src/index.js';
import {
  countValues,
  Run,
  type SchemaCheck,
  STEPS_PER_UNIT,
  Work,
} from '../../../../packages/json-schema/src/index.js';
import type { CompiledEvaluator, Evaluator } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import { CONFIG_COST, INSTRUCTIONS_PER_FIELD, MAX_CONFIG_COST, schemaCost } from './compile-cost.js';
import { type JsonConfig, jsonConfigSchema } from './config.js';
import { jsonWarnings } from './config-warnings.js';
import { checkConstraints } from './field-constraints.js';
import { checkPatterns, fieldPatternsCost } from './field-patterns.js';
import { checkTypes } from './field-types.js';
import { checkRequired, type FieldCheck, failed } from './members.js';

const PASSED: EvaluatorResult = {
  matched: false,
  confidence: 1,
  message: 'The data pass every check',
  metadata: null,
  error: null,
};
const INVALID_JSON = failed('The data are not valid JSON', null);
const INVALID_JSON_ALLOWED: EvaluatorResult = {
  matched: false,
  confidence: 0,
  message: 'The data are not valid JSON, which is allowed',
  metadata: null,
  error: null,
};
const NO_FIELDS = failed('The data are not an object, so they have no fields to check', null);

/**
 * Checks JSON documents: matched means that the data are invalid. Every check counts its work and ends with
 * an error beyond its limit.
 */
export const jsonEvaluator: Evaluator = {
  name: 'json',
  version: '1.0.0',
  description:
    'Checks the selected data against a JSON Schema and rules for single fields; invalid data match.',
  requiresApiKey: false,
  timeoutMs: 15_000,
  configSchema: jsonConfigSchema,
  configJsonSchema: z.toJSONSchema(jsonConfigSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
  compileCost({ json_schema: schema, field_patterns: patterns, ...others }) {
    // A member that exceeds the limit is rejected separately, before it is compiled.
    const bounded = (cost: number) => (cost > MAX_CONFIG_COST ? 0 : cost);
    const fields = INSTRUCTIONS_PER_FIELD * countValues(others, MAX_CONFIG_COST);
    return CONFIG_COST + bounded(schemaCost(schema)) + bounded(fieldPatternsCost(patterns)) + bounded(fields);
  },
  warningsFor: jsonWarnings,
  compile(given): CompiledEvaluator {
    const config = jsonConfigSchema.parse(given);
    const { json_schema: schema, allow_invalid_json: allowInvalid } = config;
    const fieldChecks = compileFieldChecks(config);
    const check = (document: JsonValue, work: Work, wanted: 'first' | 'all'): EvaluatorResult => {
      const violation = schema ? schemaViolation(schema, document, work, wanted) : null;
      if (violation !== null) return violation;
      if (fieldChecks.length === 0) return PASSED;
      if (!isObject(document)) return NO_FIELDS;
      for (const fieldCheck of fieldChecks) {
        const result = fieldCheck(document, work, wanted);
        if (result !== null) return result;
      }
      return PASSED;
    };
    return {
      evaluate(data, call) {
        const document = readDocument(data);
        if (document === NOT_JSON) return allowInvalid ? INVALID_JSON_ALLOWED : INVALID_JSON;
        const work = new Work();
        try {
          return check(document, work, call.detail === 'full' ? 'all' : 'first');
        } finally {
          call.spend?.(work.spent * STEPS_PER_UNIT);
        }
      },
    };
  },
};

/**
 * Nearly all data are valid, so locations and reasons are determined only for invalid data. Both passes share
 * one budget.
 */
function schemaViolation(
  schema: SchemaCheck,
  document: JsonValue,
  work: Work,
  wanted: 'first' | 'all',
): EvaluatorResult | null {
  if (schema(document, null, new Run(work, 'validity'))) return null;
  const run = new Run(work, wanted);
  schema(document, null, run);
  return failed(`The data do not satisfy the schema: ${run.texts[0]}`, {
    error_count: run.count,
    errors: run.texts,
  });
}

function compileFieldChecks(config: JsonConfig): FieldCheck[] {
  const { required_fields: required = [], field_types: types = [] } = config;
  const { field_constraints: constraints = [], field_patterns: patterns = [] } = config;
  const checks: FieldCheck[] = [];
  if (required.length > 0) checks.push(checkRequired(required, config.allow_null_required));
  if (types.length > 0) {
    const named = [...types, ...constraints, ...patterns].map(({ path }) => path);
    const known = [...required, ...named].map(({ text }) => text);
    checks.push(checkTypes(types, config.allow_extra_fields ? null : known));
  }
  if (constraints.length > 0) checks.push(checkConstraints(constraints, config.case_sensitive_enums));
  if (patterns.length > 0) checks.push(checkPatterns(patterns, config.pattern_match_logic));
  return checks;
}

/** Longest text that is parsed, in UTF-16 code units: the worst case of this length takes some 40 ms. */
export const MAX_JSON_TEXT_LENGTH = 400_000;

/** Marks data that are not a JSON document. */
export const NOT_JSON = Symbol('not JSON');

/**
 * The JSON document in the data: an object or list unchanged, a text parsed. A byte order mark is not JSON. Throws on
 * undecidable input: JSON `null`, a member that occurs twice, a text that is too long or too deeply nested, or an integer
 * of more than 4,300 digits.
 */
export function readDocument(data: JsonValue): JsonValue | typeof NOT_JSON {
  if (isContainer(data)) return data;
  if (typeof data !== 'string') return NOT_JSON;
  if (data.length > MAX_JSON_TEXT_LENGTH) {
    throw new Error(`the text has ${data.length} characters, more than ${MAX_JSON_TEXT_LENGTH}`);
  }
  const value = parse(data);
  if (value !== null) return value;
  if (data.trim() === 'null') throw new Error('the text is JSON null');
  // NaN, Infinity and numbers beyond a double: all are numbers to the parser of deployed servers.
  return Number.NaN;
}

function parse(text: string): JsonValue | typeof NOT_JSON {
  try {
    // The length bounds the number of values; for a text that is not JSON the count is meaningless.
    return parseJson(text, { anySize: true, duplicates: 'refuse' });
  } catch (error) {
    if (error instanceof JsonSyntaxError) return NOT_JSON;
    throw error;
  }
}
