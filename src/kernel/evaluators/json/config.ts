import { z } from 'zod';
import { isObject } from '../../../../packages/exact-json/src/index.js';
import { compileSchema, type SchemaCheck } from '../../../../packages/json-schema/src/index.js';
import {
  boolean,
  field,
  nullable,
  oneOf,
  refuse,
  report,
  withDefault,
} from '../../../contract/input/fields.js';
import { MAX_CONFIG_COST, schemaCost } from './compile-cost.js';
import { fieldConstraints } from './field-constraints.js';
import { fieldPatterns } from './field-patterns.js';
import { fieldTypes } from './field-types.js';
import { requiredFields } from './members.js';

/** Reads `json_schema`; null for an empty schema, which checks nothing. */
const jsonSchema = field<SchemaCheck | null>(
  (value, sink) => {
    if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
    if (Object.keys(value).length === 0) return null;
    if (schemaCost(value) > MAX_CONFIG_COST) {
      return refuse(sink, 'value_error', 'the schema and its patterns cost too much to compile', value);
    }
    try {
      return compileSchema(value);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'is invalid';
      return refuse(sink, 'value_error', `the schema ${reason}`, value);
    }
  },
  { type: 'object', additionalProperties: true },
);

/** Reads the configuration of a `json` evaluator. */
export const jsonConfigSchema = z
  .object({
    json_schema: nullable(jsonSchema).meta({
      description:
        'JSON Schema (draft 7) that the data must satisfy. Patterns are RE2, format is not checked, references lead into the schema only.',
    }),
    required_fields: nullable(requiredFields).meta({
      description: 'Dotted paths that must lead somewhere.',
    }),
    field_types: nullable(fieldTypes).meta({
      description: 'Type that each field must have, by dotted path.',
    }),
    field_constraints: nullable(fieldConstraints).meta({
      description:
        'Bounds (min, max), allowed values (enum) and lengths in characters (min_length, max_length) of fields, by dotted path.',
    }),
    field_patterns: nullable(fieldPatterns).meta({
      description: 'RE2 pattern that must be found in the text of a field, by dotted path.',
    }),
    allow_extra_fields: withDefault(boolean(), true).meta({
      description:
        'Whether fields may be there that no check names. Looked at with field_types only. Default true.',
    }),
    allow_null_required: withDefault(boolean(), false).meta({
      description: 'Whether a required field may be null. Default false.',
    }),
    pattern_match_logic: withDefault(oneOf(['all', 'any']), 'all').meta({
      description: 'Whether all patterns must be found or any of them. Default all.',
    }),
    case_sensitive_enums: withDefault(boolean(), true).meta({ description: 'Default true.' }),
    allow_invalid_json: withDefault(boolean(), false).meta({
      description: 'Whether data that are no JSON pass. Default false.',
    }),
  })
  .superRefine((config, sink) => {
    const { json_schema: schema, required_fields: required } = config;
    const members = [required, config.field_types, config.field_constraints, config.field_patterns];
    if (schema || members.some((member) => member !== undefined && member.length > 0)) return;
    const names = 'json_schema, required_fields, field_types, field_constraints, field_patterns';
    report(sink, 'value_error', `at least one of these must not be empty: ${names}`, config);
  });

/** A parsed configuration. */
export type JsonConfig = z.output<typeof jsonConfigSchema>;
