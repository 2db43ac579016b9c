import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { WireType } from '@bufbuild/protobuf/wire';
import type { Value } from '@bufbuild/protobuf/wkt';
import { list_wrapper, saturates } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import { isFreeForm, isTextType } from '../descriptors/reply-shape.js';
import {
  freeFormFromPlain,
  messageOfText,
  protoMember,
  structToPlain,
  textOfMessage,
  valueToPlain,
} from '../wire/free-form-mapper.js';
import { within } from '../wire/mapping-error.js';
import { encodedStruct } from '../wire/struct-writer.js';

/**
 * Maps messages of one type to plain JSON-shaped values and back, by their descriptor: enum values to the
 * words of the REST wire (`DECISION_DENY` ↔ `"deny"`), Struct and Value to JSON, Timestamp and Duration to
 * texts, list wrappers to lists. In a
 * plain value a member is absent when the message does not have it; in a message it is absent when the plain
 * value is null.
 */
export interface MessageMapper {
  toPlain(message: Message): JsonObject;
  fromPlain(plain: object): Message;
}

type AnyRecord = Record<string, unknown>;

/**
 * How a mapper makes the Struct fields of a message: `plain` for every use of the message; `encoded`, in their binary
 * form, for a message that is only written in that form: protobuf-es takes several times as long for them.
 */
export type StructForm = 'plain' | 'encoded';

const mappers = {
  plain: new Map<string, MessageMapper>(),
  encoded: new Map<string, MessageMapper>(),
};

/** The mapper of a message type; made once. */
export function messageMapper(desc: DescMessage, structs: StructForm = 'plain'): MessageMapper {
  const existing = mappers[structs].get(desc.typeName);
  if (existing !== undefined) return existing;
  const fields: FieldMapper[] = [];
  const mapper: MessageMapper = {
    toPlain(message) {
      const plain: JsonObject = {};
      for (const field of fields) field.toPlain(message as unknown as AnyRecord, plain);
      return plain;
    },
    fromPlain(plain) {
      const message = create(desc);
      for (const field of fields) field.fromPlain(plain as AnyRecord, message as unknown as AnyRecord);
      return message;
    },
  };
  // Registered before its fields are read, because conditions contain conditions.
  mappers[structs].set(desc.typeName, mapper);
  for (const field of desc.fields) fields.push(fieldMapper(desc, field, structs));
  return mapper;
}

interface FieldMapper {
  toPlain(message: AnyRecord, plain: JsonObject): void;
  fromPlain(plain: AnyRecord, message: AnyRecord): void;
}

/** One value of a field: a scalar, an enum value or a message. */
interface ValueMapper {
  toPlain(value: unknown): JsonValue;
  fromPlain(value: unknown): unknown;
}

function fieldMapper(desc: DescMessage, field: DescField, structs: StructForm): FieldMapper {
  const { name, localName } = field;
  const value = valueMapper(field, structs);
  if (field.oneof !== undefined) return oneofMember(field, value);
  if (field.fieldKind === 'list') {
    return {
      toPlain(message, plain) {
        const list = message[localName] as unknown[];
        // proto3 cannot distinguish empty from absent lists; a list wrapper is used where that matters.
        if (list.length > 0) plain[name] = list.map((one, index) => within(name, index, value.toPlain, one));
      },
      fromPlain(plain, message) {
        const list = plain[name];
        if (Array.isArray(list)) message[localName] = list.map(value.fromPlain);
      },
    };
  }
  if (field.fieldKind === 'map') {
    return {
      toPlain(message, plain) {
        const map = message[localName] as AnyRecord;
        const members = Object.entries(map);
        const hidden = protoMember(map);
        if (hidden !== undefined) members.push(['__proto__', hidden]);
        plain[name] = Object.fromEntries(members.map(([key, one]) => [key, value.toPlain(one)]));
      },
      fromPlain(plain, message) {
        const map = plain[name];
        if (isRecord(map)) message[localName] = mapMembers(map, value.fromPlain);
      },
    };
  }
  const hasPresence = field.presence === 1 || field.fieldKind === 'message';
  const isEnum = field.fieldKind === 'enum';
  const isEncoded = structs === 'encoded' && field.message?.typeName === STRUCT;
  return {
    toPlain(message, plain) {
      const found = hasPresence
        ? reflect(desc, message as unknown as Message).isSet(field)
          ? message[localName]
          : undefined
        : message[localName];
      // The zero value of an enum means "not stated".
      if (found === undefined || (isEnum && found === 0)) return;
      plain[name] = within(name, null, value.toPlain, found);
    },
    fromPlain(plain, message) {
      const found = plain[name];
      if (found === undefined || found === null) return;
      if (isEncoded) addEncoded(message as unknown as Message, field.number, found as JsonObject);
      else message[localName] = value.fromPlain(found);
    },
  };
}

/** Adds a Struct field as one that this version does not know: those are written as they are. */
function addEncoded(message: Message, no: number, struct: JsonObject): void {
  message.$unknown ??= [];
  message.$unknown.push({ no, wireType: WireType.LengthDelimited, data: encodedStruct(struct) });
}

function oneofMember(field: DescField, value: ValueMapper): FieldMapper {
  const oneof = field.oneof?.localName ?? '';
  return {
    toPlain(message, plain) {
      const set = message[oneof] as { case?: string; value?: unknown };
      if (set.case !== field.localName) return;
      plain[field.name] = within(field.name, null, value.toPlain, set.value);
    },
    fromPlain(plain, message) {
      const found = plain[field.name];
      if (found === undefined || found === null) return;
      message[oneof] = { case: field.localName, value: value.fromPlain(found) };
    },
  };
}

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;

function nearestInt32(value: unknown): number {
  return Math.max(INT32.min, Math.min(INT32.max, Number(value)));
}

/** Integers that messages hold as bigints; plain values may hold them as numbers. */
const LONG_SCALARS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

function valueMapper(field: DescField, structs: StructForm): ValueMapper {
  if (field.message !== undefined) return messageValue(field.message, structs);
  if (field.enum !== undefined) return enumValue(field.enum);
  const { scalar } = field;
  if (scalar !== undefined && LONG_SCALARS.has(scalar)) {
    return { toPlain: (value) => value as JsonValue, fromPlain: (value) => BigInt(value as number | bigint) };
  }
  if (optionOf(field, saturates)) return { toPlain: (value) => value as JsonValue, fromPlain: nearestInt32 };
  if (scalar === ScalarType.BYTES) return { toPlain: decodeUtf8, fromPlain: encodeUtf8 };
  return { toPlain: (value) => value as JsonValue, fromPlain: (value) => value };
}

const STRUCT = 'google.protobuf.Struct';

function messageValue(desc: DescMessage, structs: StructForm): ValueMapper {
  if (isFreeForm(desc)) {
    const isStruct = desc.typeName === STRUCT;
    // In singular and repeated fields protobuf-es holds a Struct as a plain object already.
    const toPlain = isStruct
      ? (value: unknown) => structToPlain(value as JsonObject)
      : (value: unknown) => valueToPlain(value as Value);
    return { toPlain, fromPlain: (value) => freeFormFromPlain(desc, value as JsonValue) };
  }
  if (isTextType(desc)) {
    return {
      toPlain: (value) => textOfMessage(desc, value as Message),
      fromPlain: (value) => messageOfText(desc, value as string),
    };
  }
  const mapper = messageMapper(desc, structs);
  if (optionOf(desc, list_wrapper)) {
    const member = desc.fields[0];
    if (member === undefined) throw new Error(`${desc.typeName} wraps no list`);
    return {
      toPlain: (value) => mapper.toPlain(value as Message)[member.name] ?? [],
      fromPlain: (value) => mapper.fromPlain({ [member.name]: value }),
    };
  }
  return {
    toPlain: (value) => mapper.toPlain(value as Message),
    fromPlain: (value) => mapper.fromPlain(value as object),
  };
}

function enumValue(desc: DescEnum): ValueMapper {
  const words = new Map(desc.values.map((value) => [value.number, value.localName.toLowerCase()]));
  const numbers = new Map(desc.values.map((value) => [value.localName.toLowerCase(), value.number]));
  return {
    // A number without an enum value is kept as a number; the schema refuses it.
    toPlain: (value) => words.get(value as number) ?? (value as number),
    fromPlain: (value) => numbers.get(value as string) ?? 0,
  };
}

function decodeUtf8(value: unknown): string {
  return Buffer.from(value as Uint8Array).toString('utf8');
}

function encodeUtf8(value: unknown): Uint8Array {
  return Buffer.from(value as string, 'utf8');
}

function isRecord(value: unknown): value is AnyRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapMembers<T>(record: AnyRecord, map: (value: unknown) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
