import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import {
  list_wrapper,
  omit_empty,
  omit_empty_members,
  on_request,
  variant,
} from '../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { optionOf } from '../../src/contract/warnings/proto-option.js';
import {
  isFreeForm,
  isPrinted,
  isTextType,
  textTypeSchema,
} from '../../src/serve/descriptors/reply-shape.js';
import { problemSchema } from './problem-schemas.js';
import { descriptionOf } from './proto-comments.js';
import { mayBeAbsent } from './reply-presence.js';
import { nullableSchema, type SchemaPool } from './schema-pool.js';

/** Which JSON form of a message is described: a reply with nulls, a reply without nulls, or a request. */
export type Form = 'nulls' | 'no-nulls' | 'request';

/** A message has up to three schemas, distinguished by name. */
const SUFFIX: Readonly<Record<Form, string>> = { nulls: '', 'no-nulls': 'WithoutNulls', request: 'Input' };

/** Required members of requests that have no schema in code. */
const REQUIRED_INPUT: Readonly<Record<string, readonly string[]>> = {
  ControlTemplate: ['definition_template'],
  TemplateParameter: ['label', 'type'],
};

/** Messages whose own name is that of another schema: `Problem` is the body of every refusal. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['Problem', 'ListedProblem']]);

/** Name of the schema of a message. */
export function schemaName(message: DescMessage, form: Form): string {
  return (OTHER_NAMES.get(message.name) ?? message.name) + SUFFIX[form];
}

/** A reference to the schema of a message in the JSON routes. */
export function messageSchema(message: DescMessage, form: Form, pool: SchemaPool): JsonObject {
  if (isFreeForm(message)) return freeForm(message);
  if (isTextType(message)) return textTypeSchema(message);
  // In JSON, an error inside a reply has the same form as an error reply.
  if (message.typeName === 'google.rpc.Status') return problemSchema(pool);
  const wrapped = optionOf(message, list_wrapper) ? message.fields[0] : undefined;
  if (wrapped !== undefined) return fieldSchema(wrapped, form, pool);
  return pool.define(schemaName(message, form), () => objectSchema(message, form, pool));
}

function freeForm(message: DescMessage): JsonObject {
  return message.name === 'Struct' ? { type: 'object', additionalProperties: true } : {};
}

function objectSchema(
  message: DescMessage,
  form: Form,
  pool: SchemaPool,
  omitted: readonly string[] = [],
): JsonObject {
  const hasForms = optionOf(message, variant);
  const required: string[] = [];
  const members = message.fields.filter((field) => form === 'request' || isPrinted(field));
  const properties = members.map((field): [string, JsonObject] => {
    const schema = {
      ...descriptionOf(`${message.typeName}.${field.name}`),
      ...fieldSchema(field, form, pool),
    };
    if (form === 'request') {
      if (REQUIRED_INPUT[message.name]?.includes(field.name)) required.push(field.name);
      return [field.name, mayBeNullInRequest(field) ? nullableSchema(schema) : schema];
    }
    const absent = mayBeAbsent(field);
    if (optionOf(field, omit_empty) || omitted.includes(field.name)) return [field.name, schema];
    if (optionOf(field, on_request) !== '') return [field.name, absent ? nullableSchema(schema) : schema];
    const isRequired = hasForms ? field.fieldKind === 'scalar' && !absent : !absent || form === 'nulls';
    if (isRequired) required.push(field.name);
    return [field.name, absent && form === 'nulls' ? nullableSchema(schema) : schema];
  });
  return {
    type: 'object',
    ...descriptionOf(message.typeName),
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** A request may contain null for an optional scalar; for lists and maps that is an error. */
function mayBeNullInRequest(field: DescField): boolean {
  return field.fieldKind === 'scalar' && !REQUIRED_INPUT[field.parent.name]?.includes(field.name);
}

/** The schema of a member, without its description. */
export function fieldSchema(field: DescField, form: Form, pool: SchemaPool): JsonObject {
  const one = valueSchema(field, form, pool);
  if (field.fieldKind === 'list') return { type: 'array', items: one };
  if (field.fieldKind === 'map') return { type: 'object', additionalProperties: one };
  return one;
}

function valueSchema(field: DescField, form: Form, pool: SchemaPool): JsonObject {
  const { message } = field;
  const omitted = form === 'request' ? [] : optionOf(field, omit_empty_members);
  if (message !== undefined && omitted.length > 0) {
    const name = field.parent.name + schemaName(message, form);
    return pool.define(name, () => objectSchema(message, form, pool, omitted));
  }
  if (message !== undefined) return messageSchema(message, form, pool);
  if (field.enum !== undefined) return enumSchema(field.enum);
  return scalarSchema(field.scalar);
}

/** The JSON names of enum values. The first value means that there is none. */
function enumSchema(desc: DescEnum): JsonObject {
  return {
    type: 'string',
    enum: desc.values.filter(({ number }) => number !== 0).map(({ localName }) => localName.toLowerCase()),
  };
}

function scalarSchema(scalar: ScalarType | undefined): JsonObject {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.STRING:
      return { type: 'string' };
    case ScalarType.BYTES:
      return { type: 'string', contentEncoding: 'base64' };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' };
    default:
      return { type: 'integer' };
  }
}
