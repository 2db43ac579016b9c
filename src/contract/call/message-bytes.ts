import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { list_wrapper } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { optionOf } from '../warnings/proto-option.js';

/** Bytes of a value in each encoding; never less than the encoder writes. */
interface Bytes {
  /** As protobuf. */
  readonly binary: number;
  /** As JSON, whether in the form of the JSON routes or of the JSON mapping of protobuf. */
  readonly json: number;
}

/** Most bytes of a number in protobuf, without its tag; the digits of a number in JSON are counted. */
const NUMBER_BYTES = 10;
/** The members around a list whose wrapper is a message, in the JSON mapping: `{"conditions":` and `}`. */
const WRAPPER_BYTES = 24;
/** Quotes, a colon and a comma. */
const KEY_BYTES = 4;

/** Upper bound of the bytes that a plain value takes as a message, in whichever encoding it is sent. */
export function maxMessageBytes(desc: DescMessage, value: object): number {
  const { binary, json } = messageBytes(desc, value as JsonObject);
  return Math.max(binary, json);
}

function messageBytes(desc: DescMessage, value: JsonObject): Bytes {
  let binary = 0;
  let json = 2;
  for (const field of desc.fields) {
    const member = value[field.name];
    if (member === undefined || member === null) continue;
    const { binary: inBinary, json: inJson } = memberBytes(field, member);
    binary += inBinary;
    json += Math.max(field.name.length, field.jsonName.length) + KEY_BYTES + inJson;
  }
  return { binary, json };
}

/** A member with its tags. */
function memberBytes(field: DescField, value: JsonValue): Bytes {
  const tag = varintBytes(field.number * 8);
  if (field.fieldKind === 'list' && Array.isArray(value)) {
    return sum(
      value.map((item) => one(field, item, tag)),
      1,
    );
  }
  if (field.fieldKind === 'map' && isObject(value)) {
    const entries = Object.entries(value).map(([key, item]) => {
      const { binary, json } = one(field, item, 1);
      return { binary: tag + delimited(1 + textBytes(key) + binary), json: quotedBytes(key) + 1 + json };
    });
    return sum(entries, 1);
  }
  return one(field, value, tag);
}

function one(field: DescField, value: JsonValue, tag: number): Bytes {
  const { message } = field;
  if (message !== undefined) {
    const wrapped = optionOf(message, list_wrapper) ? message.fields[0] : undefined;
    const inner = message.typeName.startsWith('google.protobuf.')
      ? freeFormBytes(value)
      : wrapped !== undefined
        ? memberBytes(wrapped, value)
        : messageBytes(message, value as JsonObject);
    return {
      binary: tag + delimited(inner.binary),
      json: inner.json + (wrapped === undefined ? 0 : WRAPPER_BYTES),
    };
  }
  if (field.enum !== undefined) {
    const longest = Math.max(...field.enum.values.map(({ name }) => name.length));
    return { binary: tag + NUMBER_BYTES, json: longest + 2 };
  }
  if (typeof value === 'string') return { binary: tag + textBytes(value), json: quotedBytes(value) };
  return { binary: tag + NUMBER_BYTES, json: String(value).length + 2 };
}

/** JSON of any form: the content of a google.protobuf.Value. */
function freeFormBytes(value: JsonValue): Bytes {
  if (Array.isArray(value)) {
    const { binary, json } = sum(
      value.map((item) => {
        const inner = freeFormBytes(item);
        return { binary: 1 + delimited(inner.binary), json: inner.json };
      }),
      1,
    );
    return { binary: 1 + delimited(binary), json };
  }
  if (isObject(value)) {
    const { binary, json } = sum(
      Object.entries(value).map(([key, item]) => {
        const inner = freeFormBytes(item);
        const entry = 1 + textBytes(key) + 1 + delimited(inner.binary);
        return { binary: 1 + delimited(entry), json: quotedBytes(key) + 1 + inner.json };
      }),
      1,
    );
    return { binary: 1 + delimited(binary), json };
  }
  if (typeof value === 'string') return { binary: 1 + textBytes(value), json: quotedBytes(value) };
  // Numbers that no double holds are sent as text.
  const text = String(value);
  return { binary: Math.max(NUMBER_BYTES, 1 + delimited(text.length)), json: text.length + 2 };
}

/** The sum, with brackets and separators in JSON. */
function sum(items: readonly Bytes[], separator: number): Bytes {
  let binary = 0;
  let json = 2;
  for (const item of items) {
    binary += item.binary;
    json += item.json + separator;
  }
  return { binary, json };
}

/** A length and as many bytes. */
function delimited(length: number): number {
  return varintBytes(length) + length;
}

function textBytes(text: string): number {
  return delimited(Buffer.byteLength(text));
}

function quotedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left >= 128; left = Math.floor(left / 128)) bytes += 1;
  return bytes;
}
