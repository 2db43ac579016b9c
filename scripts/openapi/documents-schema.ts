import { ConfigurationDocumentSchema } from '../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { isObject, type JsonObject, type JsonValue } from '../../packages/exact-json/src/index.js';
import { KINDS, type Kind } from '../../src/manage/configuration/configuration-object.js';
import { COMMON_MEMBERS, KIND_MEMBERS } from '../../src/manage/configuration/document-schema.js';
import { controlDataSchema } from './control-data-schema.js';
import { fieldSchema } from './message-schemas.js';
import { descriptionOf } from './proto-comments.js';
import { createSchemaPool, type SchemaPool } from './schema-pool.js';

const REQUIRED: Readonly<Record<Kind, readonly string[]>> = {
  Control: ['data'],
  Template: ['data'],
  Limit: ['data'],
  Approval: ['data'],
  Policy: [],
  Pack: ['policy', 'version'],
  AgentLinks: [],
};

/** JSON Schema (2020-12) of a document of controls as code, for editors. Its members are those of the proto. */
export function documentsJsonSchema(): JsonObject {
  const pool = createSchemaPool();
  const data = controlDataSchema(pool);
  const kinds = KINDS.map((kind): JsonObject => {
    const has = { type: 'object', required: ['kind'], properties: { kind: { const: kind } } };
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    return { if: has, then: kindSchema(kind, pool, data) };
  });
  const $defs = Object.entries(pool.all()).map(([name, schema]) => [name, closed(schema as JsonObject)]);
  return withLocalNames({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A document of controls as code',
    type: 'object',
    required: ['kind', 'name'],
    properties: { kind: { type: 'string', enum: [...KINDS] } },
    allOf: kinds,
    $defs: Object.fromEntries($defs),
  }) as JsonObject;
}

function kindSchema(kind: Kind, pool: SchemaPool, data: JsonObject): JsonObject {
  const { typeName, fields } = ConfigurationDocumentSchema;
  const names: readonly string[] = [...COMMON_MEMBERS, ...KIND_MEMBERS[kind]];
  const properties = fields
    .filter(({ name }) => names.includes(name))
    .map((one): [string, JsonObject] => [
      one.name,
      {
        ...descriptionOf(`${typeName}.${one.name}`),
        ...(one.name === 'data' ? data : fieldSchema(one, 'request', pool)),
      },
    ]);
  return {
    required: [...REQUIRED[kind]],
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

/** Members that an object does not have are mistakes in a file, whatever deployed clients may send. */
function closed(schema: JsonObject): JsonObject {
  if (!isObject(schema.properties) || Object.hasOwn(schema, 'additionalProperties')) return schema;
  return { ...schema, additionalProperties: false };
}

function withLocalNames(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withLocalNames);
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => [
    key,
    key === '$ref' && typeof value === 'string'
      ? value.replace('#/components/schemas/', '#/$defs/')
      : withLocalNames(value),
  ]);
  return Object.fromEntries(entries);
}
