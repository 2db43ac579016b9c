import type { DescField, DescMessage } from '@bufbuild/protobuf';
import {
  header,
  list_wrapper,
  omit_empty,
  omit_empty_members,
  on_request,
  rpc_only,
  variant,
} from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { optionOf } from '../../contract/warnings/proto-option.js';

/**
 * Converts the result of a handler to the value a JSON route prints. `input` is the request, as far as it decides what
 * is printed.
 */
type ReplyShape = (value: object, input: unknown) => object;

type Shape = (value: unknown) => unknown;

/**
 * Shape of the replies of one message type: every declared member, in the order of the message; a member
 * without a value is null, or left out if nulls are omitted. Free-form objects are printed unchanged. Members that a
 * request must ask for are left out if it does not.
 */
export function replyShape(desc: DescMessage, omitNulls: boolean): ReplyShape {
  const flags = [...flagsOf(desc, new Set())];
  const shapes = new Map<string, Shape>();
  return (value, input) => {
    const asked = flags.filter((flag) => isAsked((input as Record<string, unknown>)[flag]));
    const key = asked.join();
    let shape = shapes.get(key);
    if (shape === undefined) {
      shape = messageShape(desc, { omitNulls, asked, known: new Map() });
      shapes.set(key, shape);
    }
    return shape(value) as object;
  };
}

/** Whether a request has a member: a boolean one has to be true. */
function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** The names of the request members that members of a reply depend on. */
function flagsOf(desc: DescMessage, visited: Set<string>): Set<string> {
  if (visited.has(desc.typeName) || isFreeForm(desc)) return new Set();
  visited.add(desc.typeName);
  const flags = new Set<string>();
  for (const field of desc.fields) {
    const flag = optionOf(field, on_request);
    if (flag !== '') flags.add(flag);
    if (field.message !== undefined) for (const inner of flagsOf(field.message, visited)) flags.add(inner);
  }
  return flags;
}

/** How the members of a reply are shaped. */
interface Shaping {
  readonly omitNulls: boolean;
  /** The request members that are set. */
  readonly asked: readonly string[];
  readonly known: Map<string, Shape>;
}

function messageShape(desc: DescMessage, shaping: Shaping, omitted: readonly string[] = []): Shape {
  const { omitNulls, asked, known } = shaping;
  const key = [desc.typeName, ...omitted].join();
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const members: { name: string; shape: Shape; omitEmpty: boolean }[] = [];
  const hasForms = optionOf(desc, variant);
  const shape: Shape = (value) => {
    const source = value as Record<string, unknown>;
    const printed: Record<string, unknown> = {};
    for (const member of members) {
      const found = source[member.name];
      if (member.omitEmpty && isEmpty(found)) continue;
      if (found !== undefined && found !== null) printed[member.name] = member.shape(found);
      else if (!omitNulls && (!hasForms || Object.hasOwn(source, member.name))) printed[member.name] = null;
    }
    return printed;
  };
  // Registered before its fields are read, because conditions contain conditions.
  known.set(key, shape);
  for (const field of desc.fields) {
    const flag = optionOf(field, on_request);
    if (!isPrinted(field) || (flag !== '' && !asked.includes(flag))) continue;
    const omitEmpty = optionOf(field, omit_empty) || omitted.includes(field.name);
    members.push({ name: field.name, shape: fieldShape(field, shaping), omitEmpty });
  }
  return shape;
}

/** Whether the body of a JSON reply has the member: values sent as a header, and those of RPCs only, are not part of it. */
export function isPrinted(field: DescField): boolean {
  return optionOf(field, header) === '' && !optionOf(field, rpc_only);
}

/** Whether a value is absent or an empty list. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

const asIs: Shape = (value) => value;

function fieldShape(field: DescField, shaping: Shaping): Shape {
  const message = field.message;
  if (message === undefined || isFreeForm(message) || isTextType(message)) return asIs;
  if (optionOf(message, list_wrapper)) {
    const wrapped = message.fields[0];
    return wrapped === undefined ? asIs : fieldShape(wrapped, shaping);
  }
  const shape = messageShape(message, shaping, optionOf(field, omit_empty_members));
  if (field.fieldKind === 'list') return (value) => (value as unknown[]).map(shape);
  if (field.fieldKind === 'map') {
    return (value) =>
      Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, shape(one)]));
  }
  return shape;
}

const FREE_FORM = new Set(['google.protobuf.Struct', 'google.protobuf.Value', 'google.protobuf.ListValue']);

/** Whether a message represents arbitrary JSON. */
export function isFreeForm(desc: DescMessage): boolean {
  return FREE_FORM.has(desc.typeName);
}

/** JSON Schemas of the message types whose JSON form is a text (https://protobuf.dev/programming-guides/json). */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]{1,9})?s$' },
};

/** Whether the plain form of a message type is a text: RFC 3339 for Timestamp, such as `1.5s` for Duration. */
export function isTextType({ typeName }: DescMessage): boolean {
  return Object.hasOwn(SCHEMAS, typeName);
}

/** The JSON Schema of the text of such a type. */
export function textTypeSchema({ typeName }: DescMessage): JsonObject {
  return SCHEMAS[typeName] ?? { type: 'string' };
}
