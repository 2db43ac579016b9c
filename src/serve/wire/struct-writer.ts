import { Decimal, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { BackwardWriter } from './backward-writer.js';

const encoder = new BackwardWriter();

/** A google.protobuf.Struct in its binary form, after its length. */
export function encodedStruct(object: JsonObject): Uint8Array {
  encoder.start();
  writeStructFields(encoder, object);
  encoder.message(0, 0);
  // Without the tag.
  return encoder.finish().subarray(1);
}

/** Fields of google.protobuf.Struct. Numbers that no double holds, as integers beyond 2^53, become text. */
export function writeStructFields(writer: BackwardWriter, object: JsonObject): void {
  const keys = Object.keys(object);
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] as string;
    // protobuf-es drops it too, so replies of both lanes are the same.
    if (key === '__proto__') continue;
    const before = writer.length;
    writeValue(writer, 0x12, object[key]);
    writer.string(0x0a, key);
    writer.message(0x0a, before);
  }
}

/** A google.protobuf.Value. */
function writeValue(writer: BackwardWriter, tag: number, value: JsonValue | undefined): void {
  const before = writer.length;
  writeKind(writer, value);
  writer.message(tag, before);
}

function writeKind(writer: BackwardWriter, value: JsonValue | undefined): void {
  switch (typeof value) {
    case 'string':
      writer.string(0x1a, value);
      return;
    case 'number':
      writer.double(0x11, value);
      return;
    case 'boolean':
      writer.varint(0x20, value ? 1 : 0);
      return;
    case 'bigint':
      writer.string(0x1a, value.toString());
      return;
    case 'object':
      if (value instanceof Decimal) writer.string(0x1a, value.toString());
      else writeObject(writer, value);
      return;
    default:
    // A value unknown to JSON is a Value without a kind.
  }
}

function writeObject(writer: BackwardWriter, value: null | JsonValue[] | JsonObject): void {
  if (value === null) {
    writer.varint(0x08, 0);
    return;
  }
  const before = writer.length;
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index -= 1) writeValue(writer, 0x0a, value[index]);
    writer.message(0x32, before);
  } else {
    writeStructFields(writer, value);
    writer.message(0x2a, before);
  }
}
