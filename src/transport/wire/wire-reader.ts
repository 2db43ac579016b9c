import { ShortStrings } from './short-strings.js';

/**
 * Thrown when bytes are not in the form that writers of protobuf give them: broken, or allowed but seldom met. It
 * never reaches a caller of the codec, which then asks protobuf-es. One for all, because a stack costs more than
 * the reading.
 */
export const UNUSUAL = new Error('the message is not in its usual form');

/** Longest string, in bytes, that is looked up among those met before. */
const SHORT = 40;
/** What a decoder puts in the place of invalid UTF-8. */
const REPLACEMENT = '\ufffd';
const BYTE_ORDER_MARK = 0xfeff;

const shortStrings = new ShortStrings();

/**
 * Reads the scalars of protobuf (https://protobuf.dev/programming-guides/encoding/) in the form that writers give
 * them. `end` is always the end of the message that is read; nothing is read beyond it. Throws UNUSUAL.
 */
export class WireReader {
  buffer: Buffer;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A tag of one byte: field numbers 1 to 15. The caller has checked that a byte is left. */
  tag(): number {
    return this.buffer[this.position++] as number;
  }

  /** A varint of at most 28 bits. */
  varint(end: number): number {
    const { buffer } = this;
    let at = this.position;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) break;
      const byte = buffer[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.position = at;
        return value;
      }
    }
    throw UNUSUAL;
  }

  /** A varint of at most 49 bits. */
  longVarint(end: number): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      if (this.position >= end) break;
      const byte = this.tag();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw UNUSUAL;
  }

  double(end: number): number {
    const at = this.position;
    this.position = at + 8;
    if (this.position > end) throw UNUSUAL;
    return this.buffer.readDoubleLE(at);
  }

  /** Where the message, string or bytes ends whose length comes next. */
  sectionEnd(end: number): number {
    const sectionEnd = this.varint(end) + this.position;
    if (sectionEnd > end) throw UNUSUAL;
    return sectionEnd;
  }

  bytes(end: number): Uint8Array {
    const to = this.sectionEnd(end);
    const found = this.buffer.subarray(this.position, to);
    this.position = to;
    return found;
  }

  string(end: number): string {
    const to = this.sectionEnd(end);
    const from = this.position;
    this.position = to;
    if (to - from <= SHORT) {
      const found = shortStrings.ascii(this.buffer, from, to);
      if (found !== undefined) return found;
    }
    const text = this.buffer.toString('utf8', from, to);
    // protobuf-es refuses invalid UTF-8, and strips a byte order mark.
    if (text.includes(REPLACEMENT) || text.charCodeAt(0) === BYTE_ORDER_MARK) throw UNUSUAL;
    return text;
  }

  /** Skips the field whose tag was just read, of a message that has the fields 1 to `known`. */
  skipUnknown(end: number, known: number): void {
    this.position -= 1;
    const tag = this.varint(end);
    // protobuf-es reads a known field by its type, whatever its wire type.
    if (tag >>> 3 <= known) throw UNUSUAL;
    switch (tag & 7) {
      case 0:
        this.longVarint(end);
        break;
      case 1:
        this.position += 8;
        break;
      case 2:
        this.position = this.sectionEnd(end);
        break;
      case 5:
        this.position += 4;
        break;
      default:
        throw UNUSUAL;
    }
    if (this.position > end) throw UNUSUAL;
  }
}
