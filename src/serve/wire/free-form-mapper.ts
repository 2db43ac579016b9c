import { create, type DescMessage, fromJson, type Message, toJson } from '@bufbuild/protobuf';
import { type Struct, StructSchema, TimestampSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  Decimal,
  isContainer,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import { MappingError } from './mapping-error.js';

/** Maximum depth of free-form JSON, in every protocol. */
export const MAX_FREE_FORM_DEPTH = 200;

/** Message levels per level of free-form JSON: Value, Struct or ListValue, and a map entry. */
const MESSAGES_PER_JSON_LEVEL = 3;
/** Message levels around free-form JSON, with some reserve. */
const OTHER_MESSAGE_LEVELS = 100;
/** Maximum nesting of messages. Beyond MAX_FREE_FORM_DEPTH the mapper fails with a better error. */
export const MESSAGE_RECURSION_LIMIT = MESSAGES_PER_JSON_LEVEL * MAX_FREE_FORM_DEPTH + OTHER_MESSAGE_LEVELS;

/** A google.protobuf.Value as JSON. Refuses NaN, infinities and values nested too deeply. */
export function valueToPlain(value: Value, depth = 1): JsonValue {
  const { kind } = value;
  switch (kind.case) {
    case 'structValue':
      return fieldsToPlain(kind.value, depth + 1);
    case 'listValue':
      checkDepth(depth + 1);
      return kind.value.values.map((one) => valueToPlain(one, depth + 1));
    case 'numberValue':
      return finite(kind.value);
    case 'stringValue':
    case 'boolValue':
      return kind.value;
    default:
      return null;
  }
}

/** A google.protobuf.Struct, which protobuf-es stores in fields as a JSON object. */
export function structToPlain(struct: JsonObject): JsonObject {
  checkJson(struct, 1);
  return struct;
}

/** The message for a JSON value. Numbers that no double holds, such as integers beyond 2^53, become text. */
export function freeFormFromPlain(desc: DescMessage, value: JsonValue): unknown {
  if (desc.typeName === StructSchema.typeName) return withDoublesOnly(value);
  return plainToValue(value);
}

function fieldsToPlain(struct: Struct, depth: number): JsonObject {
  checkDepth(depth);
  const plain: JsonObject = {};
  for (const [key, value] of Object.entries(struct.fields)) plain[key] = valueToPlain(value, depth);
  const hidden = protoMember(struct.fields);
  if (hidden !== undefined) defineMember(plain, '__proto__', valueToPlain(hidden, depth));
  return plain;
}

/**
 * protobuf-es stores map entries by plain assignment, so an entry named `__proto__` becomes the prototype of
 * the map. If ignored, a step could hide data from every control.
 */
export function protoMember<T>(map: { [key: string]: T }): T | undefined {
  const prototype: unknown = Object.getPrototypeOf(map);
  if (prototype === Object.prototype || prototype === null) return undefined;
  return prototype as T;
}

function defineMember(target: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function checkJson(value: JsonValue, depth: number): void {
  if (typeof value === 'number') finite(value);
  if (!isContainer(value)) return;
  checkDepth(depth);
  for (const member of Object.values(value)) checkJson(member, depth + 1);
}

function checkDepth(depth: number): void {
  if (depth > MAX_FREE_FORM_DEPTH) {
    throw new MappingError('recursion_loop', `must not be nested deeper than ${MAX_FREE_FORM_DEPTH} levels`);
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new MappingError('finite_number', 'must be a finite number');
  return value;
}

function withDoublesOnly(value: JsonValue): JsonValue {
  if (typeof value === 'bigint' || value instanceof Decimal) return value.toString();
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(withDoublesOnly);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withDoublesOnly(member)]));
}

function plainToValue(value: JsonValue): Value {
  return create(ValueSchema, { kind: valueKind(value) });
}

function valueKind(value: JsonValue): Value['kind'] {
  if (value === null) return { case: 'nullValue', value: 0 };
  if (typeof value === 'boolean') return { case: 'boolValue', value };
  if (typeof value === 'number') return { case: 'numberValue', value };
  if (isObject(value)) {
    const fields = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainToValue(one)]));
    return { case: 'structValue', value: create(StructSchema, { fields }) };
  }
  if (Array.isArray(value)) {
    return {
      case: 'listValue',
      value: { $typeName: 'google.protobuf.ListValue', values: value.map(plainToValue) },
    };
  }
  return { case: 'stringValue', value: String(value) };
}

const TIMESTAMP_RULE = 'must be a time from the year 1 to the year 9999';
const DURATION_RULE =
  'must have at most 315,576,000,000 seconds, less than 1,000,000,000 nanos, and the same sign in both';

/** The text of a Timestamp or Duration. Throws a MappingError for values beyond their ranges. */
export function textOfMessage(desc: DescMessage, message: Message): string {
  try {
    return toJson(desc, message) as string;
  } catch {
    const rule = desc.typeName === TimestampSchema.typeName ? TIMESTAMP_RULE : DURATION_RULE;
    throw new MappingError('value_error', rule);
  }
}

/** The message of a text that a handler returned. */
export function messageOfText(desc: DescMessage, text: string): Message {
  return fromJson(desc, text);
}
