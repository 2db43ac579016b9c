import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { z } from 'zod';
import { header, in_query } from '../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { jsonSchemaOf } from '../../src/contract/input/fields.js';
import { optionOf } from '../../src/contract/warnings/proto-option.js';
import { isFreeForm } from '../../src/serve/descriptors/reply-shape.js';
import type { HttpBinding } from '../../src/serve/descriptors/rpc-methods.js';
import { IF_MATCH_HEADER } from '../../src/serve/wire/reply-headers.js';
import { controlDataSchema, isControlData } from './control-data-schema.js';
import { fieldSchema, schemaName } from './message-schemas.js';
import { descriptionOf } from './proto-comments.js';
import type { SchemaPool } from './schema-pool.js';

const INTEGER_TEXT = '^[+-]?[0-9]+$';

/** The parts of a request. */
export interface RequestParts {
  /** Members in the path, the query or a header; some body members may also be sent in the query. */
  readonly parameters: JsonObject[];
  /** Undefined without a body. */
  readonly body?: JsonObject;
}

/**
 * Describes the request of a JSON route by its input schema, with the comments of the message. If the input
 * is validated in code and has no schema, by the message alone.
 */
export function requestParts(
  message: DescMessage,
  binding: HttpBinding,
  input: z.ZodType,
  pool: SchemaPool,
): RequestParts {
  const whole = describedObject(jsonSchemaOf(input), message, pool);
  const members = Object.entries(whole.properties as JsonObject) as [string, JsonObject][];
  const required = new Set((whole.required ?? []) as string[]);
  const inPath = ([name]: [string, JsonObject]) => binding.pathMembers.includes(name);
  const path = members.filter(inPath).map(([name, schema]) => parameter('path', name, schema, true));
  const headers = new Map(message.fields.map((field) => [field.name, optionOf(field, header)]));
  const hasHeader = ([name]: [string, JsonObject]) => (headers.get(name) ?? '') !== '';
  const inHeader = members.filter(hasHeader).map(([name, schema]) => {
    const header = headers.get(name) ?? '';
    return parameter('header', header, header === IF_MATCH_HEADER ? asTag(schema) : schema, false);
  });
  const fields = new Map(message.fields.map((field) => [field.name, field]));
  // Some members of a header may also be sent like others.
  const others = members.filter(
    (member) => !inPath(member) && (!hasHeader(member) || isInQuery(fields.get(member[0]))),
  );
  if (binding.body === '') {
    const query = others.map(([name, schema]) => parameter('query', name, schema, required.has(name)));
    return { parameters: [...path, ...query, ...inHeader] };
  }
  if (binding.body !== '*') {
    const one = others.find(([name]) => name === binding.body);
    if (one === undefined) throw new Error(`${message.name} has no member ${binding.body} in its schema`);
    const query = others
      .filter((other) => other !== one)
      .map(([name, schema]) => parameter('query', name, schema, required.has(name)));
    return { parameters: [...path, ...query, ...inHeader], body: withExampleOf(whole, one) };
  }
  const { required: _, ...rest } = whole;
  const requiredInBody = [...required].filter((name) => !binding.pathMembers.includes(name));
  // Bindings of one message may take different members from the path.
  const body = pool.share(message.name, {
    ...rest,
    properties: Object.fromEntries(others),
    ...(requiredInBody.length === 0 ? {} : { required: requiredInBody }),
  });
  const query = others
    .filter(([name]) => isInQuery(fields.get(name)))
    .map(([name, schema]) => parameter('query', name, schema, false));
  return { parameters: [...path, ...query, ...inHeader], body };
}

/** A member that is the whole body, with its part of the example of a request. */
function withExampleOf({ examples }: JsonObject, [name, schema]: [string, JsonObject]): JsonObject {
  const [example] = (examples ?? []) as JsonObject[];
  return example?.[name] === undefined ? schema : { ...schema, examples: [example[name]] };
}

/** A version in a header is in quotes. */
function asTag({ description }: JsonObject): JsonObject {
  const schema = { type: 'string', pattern: '^((W/)?"[0-9]+"|\\*)$' };
  return description === undefined ? schema : { ...schema, description };
}

function isInQuery(field: DescField | undefined): boolean {
  return field !== undefined && optionOf(field, in_query);
}

/** Adds the comments of a message to the schema of its object, at every level. */
function describedObject(schema: JsonObject, message: DescMessage, pool: SchemaPool): JsonObject {
  const fields = new Map(message.fields.map((field) => [field.name, field]));
  const properties = Object.entries((schema.properties ?? {}) as JsonObject).map(([name, shown]) => {
    const field = fields.get(name);
    const known = shown as JsonObject;
    if (field === undefined) return [name, known];
    return [
      name,
      { ...descriptionOf(`${message.typeName}.${name}`), ...describedMember(known, field, pool) },
    ];
  });
  return { ...schema, ...descriptionOf(message.typeName), properties: Object.fromEntries(properties) };
}

function describedMember(schema: JsonObject, field: DescField, pool: SchemaPool): JsonObject {
  const { message } = field;
  if (field.scalar === ScalarType.STRING) return asText(schema);
  if (message === undefined) return schema;
  if (Object.keys(schema).length === 0) {
    return isControlData(message) ? controlDataSchema(pool) : fieldSchema(field, 'request', pool);
  }
  if (isFreeForm(message)) return schema;
  if (schema.type === 'array') {
    return { ...schema, items: namedObject(schema.items as JsonObject, message, pool) };
  }
  return namedObject(schema, message, pool);
}

/** Cursors of controls are numbers, but text in replies: they can be sent back unchanged. */
function asText(schema: JsonObject): JsonObject {
  const given = withoutNull(schema);
  return given.type === 'integer' ? { anyOf: [given, { type: 'string', pattern: INTEGER_TEXT }] } : schema;
}

function namedObject(schema: JsonObject, message: DescMessage, pool: SchemaPool): JsonObject {
  if (schema.properties === undefined) return schema;
  return pool.share(schemaName(message, 'request'), describedObject(schema, message, pool));
}

function parameter(
  place: 'path' | 'query' | 'header',
  name: string,
  shown: JsonObject,
  required: boolean,
): JsonObject {
  const { description, ...schema } = withoutNull(shown);
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

/** A text in a path, query or header is never null. */
function withoutNull(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.type)) {
    const [type] = schema.type.filter((one) => one !== 'null');
    return type === undefined ? schema : { ...schema, type };
  }
  if (!Array.isArray(schema.anyOf)) return schema;
  const { anyOf, ...rest } = schema;
  const [only, ...more] = (anyOf as JsonObject[]).filter(({ type }) => type !== 'null');
  return only === undefined || more.length > 0 ? schema : { ...rest, ...only };
}
