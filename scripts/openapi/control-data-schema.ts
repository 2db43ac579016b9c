import type { DescMessage } from '@bufbuild/protobuf';
import { ControlTemplateSchema } from '../../gen/proto/enforcement/v1/control_pb.js';
import type { JsonObject, JsonValue } from '../../packages/exact-json/src/index.js';
import { controlJsonSchema } from '../../src/manage/controls/control-json-schema.js';
import { messageSchema } from './message-schemas.js';
import { descriptionOf } from './proto-comments.js';
import type { SchemaPool } from './schema-pool.js';

const DEFINITION = 'enforcement.v1.ControlDefinition';
const LOCAL = '#/$defs/';

/** Whether a request member of this type holds the data of a control. */
export function isControlData(message: DescMessage): boolean {
  return message.typeName === DEFINITION;
}

/**
 * Schema of control data in requests: a full definition, by the schema of `GET /controls/schema`, or a
 * template with values.
 */
export function controlDataSchema(pool: SchemaPool): JsonObject {
  return pool.define('ControlDataInput', () => ({
    description: 'A definition that is written out, or a template with its values.',
    anyOf: [writtenDefinition(pool), templateData(pool)],
  }));
}

/** The schema of definitions, with parts named like other request schemas. */
function writtenDefinition(pool: SchemaPool): JsonObject {
  const { $defs, title: _, ...definition } = controlJsonSchema;
  for (const [name, part] of Object.entries($defs as JsonObject)) {
    pool.define(`${name}Input`, () => described(`enforcement.v1.${name}`, part as JsonObject));
  }
  return pool.define('ControlDefinitionInput', () => described(DEFINITION, definition));
}

/** Adds the comments of the corresponding message to a part. */
function described(message: string, part: JsonObject): JsonObject {
  const schema = withNamedParts(part) as JsonObject;
  const properties = Object.entries(schema.properties as JsonObject).map(([name, member]) => [
    name,
    { ...descriptionOf(`${message}.${name}`), ...(member as JsonObject) },
  ]);
  return { ...descriptionOf(message), ...schema, properties: Object.fromEntries(properties) };
}

/** Points local references to the components of the document. */
function withNamedParts(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withNamedParts);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (key !== '$ref' || typeof value !== 'string') return [key, withNamedParts(value)];
    return [key, value.startsWith(LOCAL) ? `#/components/schemas/${value.slice(LOCAL.length)}Input` : value];
  });
  return Object.fromEntries(entries);
}

function templateData(pool: SchemaPool): JsonObject {
  return pool.define('TemplateDataInput', () => ({
    type: 'object',
    ...descriptionOf('enforcement.v1.ControlTemplate'),
    properties: {
      template: messageSchema(ControlTemplateSchema, 'request', pool),
      template_values: templateValuesSchema(pool),
    },
    required: ['template'],
    additionalProperties: false,
  }));
}

function templateValuesSchema(pool: SchemaPool): JsonObject {
  return pool.define('TemplateValuesInput', () => ({
    type: 'object',
    ...descriptionOf(`${DEFINITION}.template_values`),
    additionalProperties: {
      anyOf: [{ type: 'string' }, { type: 'boolean' }, { type: 'array', items: { type: 'string' } }],
    },
  }));
}
