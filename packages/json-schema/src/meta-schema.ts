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
  type: { anyOf: [TYPE, { type: 'array', items: TYPE, minItems: 1, uniqueItems: true }] },
  ...all(TEXT, '$schema', '$ref', '$comment', 'title', 'description', 'pattern', 'format'),
  ...all(TEXT, 'contentMediaType', 'contentEncoding'),
  ...all(BOOLEAN, 'readOnly', 'uniqueItems'),
  ...all(NUMBER, 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'),
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  ...all(SIZE, 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'),
  ...all({ type: 'array' }, 'examples', 'enum'),
  required: NAMES,
  ...all(SCHEMA, 'contains', 'additionalProperties', 'propertyNames', 'if', 'then', 'else', 'not'),
  ...all(SCHEMA_MAP, 'definitions', 'properties', 'patternProperties'),
  dependencies: { type: 'object', additionalProperties: { anyOf: [SCHEMA, NAMES] } },
  ...all(SCHEMA_LIST, 'allOf', 'anyOf', 'oneOf'),
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
    ...all(ANCHOR, '$anchor', '$dynamicAnchor'),
    $dynamicRef: TEXT,
    $vocabulary: { type: 'object', additionalProperties: BOOLEAN },
    ...COMMON,
    ...all(BOOLEAN, 'deprecated', 'writeOnly'),
    ...all(SIZE, 'minContains', 'maxContains'),
    ...all(SCHEMA, 'items', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'),
    ...all(SCHEMA_MAP, '$defs', 'dependentSchemas'),
    prefixItems: SCHEMA_LIST,
    dependentRequired: { type: 'object', additionalProperties: NAMES },
  },
};

function all(value: JsonObject, ...keywords: string[]): JsonObject {
  return Object.fromEntries(keywords.map((keyword) => [keyword, value]));
}
