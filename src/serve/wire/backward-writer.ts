import { PREFIX_LENGTH, writePrefix } from './envelope.js';

const INITIAL_BYTES = 64 * 1024;
/** A larger buffer is released after its message. */
const LARGEST_KEPT_BYTES = 1024 * 1024;
/** Longest string, in UTF-16 code units, that is written character by character. */
const SHORT = 64;
/** Maximum size of a tag and varint written by this writer. */
const TAG_AND_VARINT_BYTES = 9;

/** A text that writes its UTF-8 form, of `length` bytes. */
interface WritableText {
  readonly length: number;
  write(target: Uint8Array, at: number): void;
}

/**
 * Writes protobuf from end to start: the length of a message is known by the time it is written, so nothing
 * has to be measured or moved. Fields must be written in descending order, lists from their last item. All
 * tags but that of `farMessage` are one byte long. Encodings: https://protobuf.dev/programming-guides/encoding/
 */
export class BackwardWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  /** Position of the last written byte. */
  #position = INITIAL_BYTES;

  /** Bytes written since `start`. */
  get length(): number {
    return this.#buffer.length - this.#position;
  }

  /** Discards everything written. */
  start(): void {
    if (this.#buffer.length > LARGEST_KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
    this.#position = this.#buffer.length;
  }

  /** Returns a copy of the written bytes. */
  finish(): Buffer {
    const made = Buffer.allocUnsafe(this.length);
    this.#buffer.copy(made, 0, this.#position);
    this.start();
    return made;
  }

  /** Writes a varint field; `value` is a non-negative safe integer. */
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

  /** Lone surrogates become U+FFFD, as in any UTF-8 encoder. */
  string(tag: number, text: string): void {
    const size = text.length > SHORT ? this.#longText(text) : this.#shortText(text);
    this.#varint(size);
    this.#buffer[--this.#position] = tag;
  }

  /** A text that writes itself. */
  text(tag: number, text: WritableText): void {
    this.#need(text.length + TAG_AND_VARINT_BYTES);
    this.#position -= text.length;
    text.write(this.#buffer, this.#position);
    this.#varint(text.length);
    this.#buffer[--this.#position] = tag;
  }

  bytes(tag: number, bytes: Uint8Array): void {
    this.#need(bytes.length + TAG_AND_VARINT_BYTES);
    this.#position -= bytes.length;
    this.#buffer.set(bytes, this.#position);
    this.#varint(bytes.length);
    this.#buffer[--this.#position] = tag;
  }

  /** The bytes of a message that was encoded before, in a field with a number from 16 to 31; see `farMessage`. */
  farBytes(tag: number, bytes: Uint8Array): void {
    const before = this.length;
    this.#need(bytes.length);
    this.#position -= bytes.length;
    this.#buffer.set(bytes, this.#position);
    this.farMessage(tag, before);
  }

  /** Turns everything written since `length` was `before` into a message. */
  message(tag: number, before: number): void {
    this.#need(TAG_AND_VARINT_BYTES);
    this.#varint(this.length - before);
    this.#buffer[--this.#position] = tag;
  }

  /** The same for a field number from 16 to 31, whose tag has two bytes. */
  farMessage(tag: number, before: number): void {
    this.#need(TAG_AND_VARINT_BYTES + 1);
    this.#varint(this.length - before);
    this.#buffer[--this.#position] = 1;
    this.#buffer[--this.#position] = tag;
  }

  /** The same for a gRPC message: not compressed, with its length as a big-endian integer of four bytes. */
  frame(before: number): void {
    this.#need(PREFIX_LENGTH);
    const size = this.length - before;
    this.#position -= PREFIX_LENGTH;
    writePrefix(this.#buffer, this.#position, 0, size);
  }

  /** There must be enough space. */
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
