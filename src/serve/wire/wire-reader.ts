/** Cache entries for strings; a power of two. At most 40 characters each: about 100 KB. */
const PLACES = 1024;
/** FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), 32 bits. */
const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Caches short ASCII strings by their bytes: agent names, step types, tool names and object keys repeat, and
 * a lookup takes a third of the time of creating a string. A new string replaces another one; entries are
 * compared on lookup, so that crafted bytes can make it slower but never wrong.
 */
export class ShortStrings {
  readonly #places: (string | undefined)[] = new Array(PLACES).fill(undefined);

  /** The string from `from` to `to`; undefined if it is not ASCII. */
  ascii(bytes: Buffer, from: number, to: number): string | undefined {
    let hash = OFFSET_BASIS;
    let bits = 0;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] as number;
      bits |= byte;
      hash = Math.imul(hash ^ byte, PRIME);
    }
    if (bits > 0x7f) return undefined;
    const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
    const found = this.#places[place];
    if (found !== undefined && isAt(found, bytes, from, to)) return found;
    const made = bytes.toString('latin1', from, to);
    this.#places[place] = made;
    return made;
  }
}

function isAt(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let at = from; at < to; at += 1) {
    if (text.charCodeAt(at - from) !== bytes[at]) return false;
  }
  return true;
}

/**
 * Thrown if bytes are not in the usual form of protobuf writers: invalid, or valid but rare. It never reaches
 * callers of the codec, which falls back to protobuf-es. A shared instance, because capturing a stack costs
 * more than the reading.
 */
export const UNUSUAL = new Error('the message is not in its usual form');

/** Longest string, in bytes, that is looked up in the cache. */
const SHORT = 40;
/** The decoder's replacement for invalid UTF-8. */
const REPLACEMENT = '\ufffd';
const BYTE_ORDER_MARK = 0xfeff;

const shortStrings = new ShortStrings();

/**
 * Reads protobuf scalars (https://protobuf.dev/programming-guides/encoding/) in the usual form of writers.
 * `end` is always the end of the current message; nothing is read beyond it. Throws UNUSUAL.
 */
export class WireReader {
  buffer: Buffer;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A tag of one byte: field numbers 1 to 15. The caller must check that there is a byte left. */
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

  /** End of the message, string or bytes whose length is read next. */
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

  /** Skips the field whose tag was just read, in a message with the fields 1 to `known`. */
  skipUnknown(end: number, known: number): void {
    this.position -= 1;
    const tag = this.varint(end);
    // protobuf-es reads a known field according to its type, whatever its wire type.
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
