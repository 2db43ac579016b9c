import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { MAX_FREE_FORM_DEPTH } from './free-form-mapper.js';
import { UNUSUAL, type WireReader } from './wire-reader.js';

/** Highest field number of Step. */
const STEP_FIELDS = 5;

/**
 * Reads a Step up to `end` as plain JSON: the result of valueToPlain, without the messages. Throws UNUSUAL
 * for everything that valueToPlain refuses, and for values that must be merged.
 */
export function readStep(reader: WireReader, end: number): JsonObject {
  let type = '';
  let name = '';
  let input: JsonValue | undefined;
  let output: JsonValue | undefined;
  let context: JsonValue | undefined;
  while (reader.position < end) {
    switch (reader.tag()) {
      case 0x0a:
        type = reader.string(end);
        break;
      case 0x12:
        name = reader.string(end);
        break;
      case 0x1a:
        input = topValue(reader, end, input);
        break;
      case 0x22:
        output = topValue(reader, end, output);
        break;
      case 0x2a:
        context = topValue(reader, end, context);
        break;
      default:
        reader.skipUnknown(end, STEP_FIELDS);
    }
  }
  const step: JsonObject = { type, name };
  if (input !== undefined) step.input = input;
  if (output !== undefined) step.output = output;
  if (context !== undefined) step.context = context;
  return step;
}

function topValue(reader: WireReader, end: number, before: JsonValue | undefined): JsonValue {
  // Two Values are merged, and so are Structs within them.
  if (before !== undefined) throw UNUSUAL;
  return readValue(reader, reader.sectionEnd(end), 1);
}

/** google.protobuf.Value: at most one field. */
function readValue(reader: WireReader, end: number, depth: number): JsonValue {
  if (reader.position === end) return null;
  const value = readKind(reader, end, depth);
  if (reader.position !== end) throw UNUSUAL;
  return value;
}

function readKind(reader: WireReader, end: number, depth: number): JsonValue {
  switch (reader.tag()) {
    case 0x08:
      reader.varint(end);
      return null;
    case 0x11: {
      const value = reader.double(end);
      if (!Number.isFinite(value)) throw UNUSUAL;
      return value;
    }
    case 0x1a:
      return reader.string(end);
    case 0x20:
      return reader.varint(end) !== 0;
    case 0x2a:
      return readStruct(reader, reader.sectionEnd(end), depth + 1);
    case 0x32:
      return readList(reader, reader.sectionEnd(end), depth + 1);
    default:
      throw UNUSUAL;
  }
}

/** google.protobuf.Struct: entries of a map, each with its key and its value. */
function readStruct(reader: WireReader, end: number, depth: number): JsonObject {
  if (depth > MAX_FREE_FORM_DEPTH) throw UNUSUAL;
  const plain: JsonObject = {};
  while (reader.position < end) {
    if (reader.tag() !== 0x0a) throw UNUSUAL;
    const entryEnd = reader.sectionEnd(end);
    let key = '';
    let value: JsonValue = null;
    let tag = reader.position < entryEnd ? reader.tag() : 0;
    if (tag === 0x0a) {
      key = reader.string(entryEnd);
      tag = reader.position < entryEnd ? reader.tag() : 0;
    }
    if (tag === 0x12) {
      value = readValue(reader, reader.sectionEnd(entryEnd), depth);
      tag = 0;
    }
    // Assigning to it would not create a member.
    if (tag !== 0 || reader.position !== entryEnd || key === '__proto__') throw UNUSUAL;
    plain[key] = value;
  }
  return plain;
}

/** google.protobuf.ListValue. */
function readList(reader: WireReader, end: number, depth: number): JsonValue[] {
  if (depth > MAX_FREE_FORM_DEPTH) throw UNUSUAL;
  const list: JsonValue[] = [];
  while (reader.position < end) {
    if (reader.tag() !== 0x0a) throw UNUSUAL;
    list.push(readValue(reader, reader.sectionEnd(end), depth));
  }
  return list;
}
