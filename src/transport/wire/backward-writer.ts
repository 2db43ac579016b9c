const INITIAL_BYTES = 64 * 1024;
/** A larger buffer is given back once its message is done. */
const LARGEST_KEPT_BYTES = 1024 * 1024;
/** Longest string, in UTF-16 code units, that is written a character at a time. */
const SHORT = 64;
/** Longest tag and varint of what this writer writes. */
const TAG_AND_VARINT_BYTES = 9;
/** Bytes before each message of gRPC: a flag and the length. */
const PREFIX_BYTES = 5;

/**
 * Writes protobuf from its end to its beginning: when a message comes to its length, the length is known, so that
 * nothing is measured first or moved after. Fields have to be written in descending order, lists from their last item.
 * All tags are of one byte. Encodings: https://protobuf.dev/programming-guides/encoding/
 */
export class BackwardWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  /** Where the last written byte is. */
  #position = INITIAL_BYTES;

  /** Bytes written since `start`. */
  get length(): number {
    return this.#buffer.length - this.#position;
  }

  /** Forgets what was written. */
  start(): void {
    if (this.#buffer.length > LARGEST_KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
    this.#position = this.#buffer.length;
  }

  /** A copy of what was written. */
  finish(): Buffer {
    const made = Buffer.allocUnsafe(this.length);
    this.#buffer.copy(made, 0, this.#position);
    this.start();
    return made;
  }

  /** A varint field; `value` is a safe integer that is not negative. */
  varint(tag: number, value: number): void {
    this.#need(TAG_AND_VARINT_BYTES);
    this.#varint(value);
    this.#buffer[--this.#position] = tag;
  }

  double(tag: number, value: number): void {
    this.#need(TAG_AND_VARINT_BYTES);
    this.#position -= 8;
    this.#buffer.writeDoubleLE(value, this.#position);
    this.#buffer[--this.#position] = tag;
  }

  /** Lone surrogates become U+FFFD, as in every encoder of UTF-8. */
  string(tag: number, text: string): void {
    const size = text.length > SHORT ? this.#longText(text) : this.#shortText(text);
    this.#varint(size);
    this.#buffer[--this.#position] = tag;
  }

  bytes(tag: number, bytes: Uint8Array): void {
    this.#need(bytes.length + TAG_AND_VARINT_BYTES);
    this.#position -= bytes.length;
    this.#buffer.set(bytes, this.#position);
    this.#varint(bytes.length);
    this.#buffer[--this.#position] = tag;
  }

  /** Makes a message of everything written since `length` was `before`. */
  message(tag: number, before: number): void {
    this.#need(TAG_AND_VARINT_BYTES);
    this.#varint(this.length - before);
    this.#buffer[--this.#position] = tag;
  }

  /** The same, a message of gRPC: not compressed, its length as a big-endian integer of four bytes. */
  frame(before: number): void {
    this.#need(PREFIX_BYTES);
    const size = this.length - before;
    this.#position -= PREFIX_BYTES;
    this.#buffer[this.#position] = 0;
    this.#buffer.writeUInt32BE(size, this.#position + 1);
  }

  /** Room must be there. */
  #varint(value: number): void {
    const buffer = this.#buffer;
    if (value < 0x80) {
      buffer[--this.#position] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) size += 1;
    this.#position -= size;
    let at = this.#position;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) buffer[at++] = (rest % 128) | 0x80;
    buffer[at] = rest;
  }

  #shortText(text: string): number {
    this.#need(3 * text.length + TAG_AND_VARINT_BYTES);
    const buffer = this.#buffer;
    let at = this.#position;
    for (let index = text.length - 1; index >= 0; index -= 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return this.#longText(text);
      buffer[--at] = unit;
    }
    this.#position = at;
    return text.length;
  }

  #longText(text: string): number {
    const size = Buffer.byteLength(text);
    this.#need(size + TAG_AND_VARINT_BYTES);
    this.#position -= size;
    this.#buffer.write(text, this.#position, size, 'utf8');
    return size;
  }

  #need(bytes: number): void {
    if (this.#position < bytes) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const { length } = this;
    const grown = Buffer.allocUnsafe(2 * this.#buffer.length + bytes);
    this.#buffer.copy(grown, grown.length - length, this.#position);
    this.#position = grown.length - length;
    this.#buffer = grown;
  }
}
