import type { JsonObject } from '../../exact-json/src/index.js';

const SCHEMA = { $ref: '#' };
const SCHEMA_LIST = { type: 'array', minItems: 1, items: SCHEMA };
const SCHEMA_MAP = { type: 'object', additionalProperties: SCHEMA };
const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const BOOLEAN = { type: 'boolean' };
const SIZE = { type: 'integer', minimum: 0 };
const NAMES = { type: 'array', items: TEXT, uniqueItems: true };
const TYPE = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] };

/** Keywords that both dialects have, with the same values. The order is the order of problems. */
const COMMON: JsonObject = {
  $schema: TEXT,
  $ref: TEXT,
  $comment: TEXT,
  title: TEXT,
  description: TEXT,
  readOnly: BOOLEAN,
  examples: { type: 'array' },
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  maximum: NUMBER,
  exclusiveMaximum: NUMBER,
  minimum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: SIZE,
  minLength: SIZE,
  pattern: TEXT,
  maxItems: SIZE,
  minItems: SIZE,
  uniqueItems: BOOLEAN,
  contains: SCHEMA,
  maxProperties: SIZE,
  minProperties: SIZE,
  required: NAMES,
  additionalProperties: SCHEMA,
  definitions: SCHEMA_MAP,
  properties: SCHEMA_MAP,
  patternProperties: SCHEMA_MAP,
  dependencies: { type: 'object', additionalProperties: { anyOf: [SCHEMA, NAMES] } },
  propertyNames: SCHEMA,
  enum: { type: 'array' },
  type: { anyOf: [TYPE, { type: 'array', items: TYPE, minItems: 1, uniqueItems: true }] },
  format: TEXT,
  contentMediaType: TEXT,
  contentEncoding: TEXT,
  if: SCHEMA,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: SCHEMA,
  else: SCHEMA,
  allOf: SCHEMA_LIST,
  anyOf: SCHEMA_LIST,
  oneOf: SCHEMA_LIST,
  not: SCHEMA,
};

/** The rules of http://json-schema.org/draft-07/schema, without formats and defaults. */
export const META_DRAFT_7: JsonObject = {
  type: ['object', 'boolean'],
  properties: {
    $id: TEXT,
    ...COMMON,
    additionalItems: SCHEMA,
    items: { anyOf: [SCHEMA, SCHEMA_LIST] },
  },
};

const ANCHOR = { type: 'string', pattern: '^[A-Za-z_][-A-Za-z0-9._]*$' };

/** The rules of https://json-schema.org/draft/2020-12/schema and its vocabularies, in one schema. */
export const META_2020_12: JsonObject = {
  type: ['object', 'boolean'],
  properties: {
    $id: { type: 'string', pattern: '^[^#]*#?$' },
    $anchor: ANCHOR,
    $dynamicRef: TEXT,
    $dynamicAnchor: ANCHOR,
    $vocabulary: { type: 'object', additionalProperties: BOOLEAN },
    $defs: SCHEMA_MAP,
    ...COMMON,
    deprecated: BOOLEAN,
    writeOnly: BOOLEAN,
    prefixItems: SCHEMA_LIST,
    items: SCHEMA,
    minContains: SIZE,
    maxContains: SIZE,
    dependentRequired: { type: 'object', additionalProperties: NAMES },
    dependentSchemas: SCHEMA_MAP,
    unevaluatedItems: SCHEMA,
    unevaluatedProperties: SCHEMA,
    contentSchema: SCHEMA,
  },
};
