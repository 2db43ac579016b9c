import type { MessageReader, UnreadMessage } from '../../contract/call/handler.js';
import { inEnvelope, PREFIX_LENGTH } from '../wire/envelope.js';

const NOTHING = Buffer.alloc(0);

/** A message that is being taken out. */
interface Taken {
  /** Its prefix, and its content as far as it has arrived. */
  readonly chunks: Uint8Array[];
  missing: number;
}

/**
 * The large messages of one call, taken out of its body for a reader: Connect parses every message in the thread that
 * serves requests, so it gets an empty one instead. Everything else, and every invalid or incomplete body, is passed
 * on unchanged, so that Connect refuses it.
 */
export class UnreadMessages {
  readonly #reader: MessageReader;
  readonly #form: 'json' | 'binary';
  readonly #maxBytes: number;
  /** Those that Connect was not asked for yet, in order; undefined for one that it parses. */
  readonly #messages: (UnreadMessage | undefined)[] = [];

  /** `maxBytes` is the largest message that Connect accepts. */
  constructor(reader: MessageReader, form: 'json' | 'binary', maxBytes: number) {
    this.#reader = reader;
    this.#form = form;
    this.#maxBytes = maxBytes;
  }

  /** Must be called once for each message of Connect. Undefined if that message is the one that was sent. */
  next(): UnreadMessage | undefined {
    return this.#messages.shift();
  }

  /** Passes on a body of messages in envelopes. */
  async *fromEnvelopes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    /** The beginning of a prefix. */
    let held: Uint8Array = NOTHING;
    /** Bytes to come of a message that is passed on. */
    let passing = 0;
    let taken: Taken | undefined;
    for await (const chunk of body) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = NOTHING;
      let from = 0;
      for (let at = 0; at < bytes.length; ) {
        if (taken !== undefined) {
          const part = bytes.subarray(at, at + taken.missing);
          taken.chunks.push(part);
          taken.missing -= part.length;
          at += part.length;
          from = at;
          if (taken.missing > 0) break;
          const message = Buffer.concat(taken.chunks.slice(1));
          const other = this.#takes(message.length) ? undefined : this.#passOn(message);
          if (other === undefined) this.#keep(message);
          yield other === undefined ? this.#emptyEnvelope() : inEnvelope(0, other);
          taken = undefined;
        } else if (passing > 0) {
          const length = Math.min(passing, bytes.length - at);
          passing -= length;
          at += length;
        } else if (bytes.length - at < PREFIX_LENGTH) {
          held = bytes.subarray(at);
          break;
        } else {
          const prefix = bytes.subarray(at, at + PREFIX_LENGTH);
          const length = Buffer.from(prefix.buffer, prefix.byteOffset).readUInt32BE(1);
          at += PREFIX_LENGTH;
          if (prefix[0] === 0 && (this.#takes(length) || this.#rewrites(length))) {
            if (at - PREFIX_LENGTH > from) yield bytes.subarray(from, at - PREFIX_LENGTH);
            from = at;
            taken = { chunks: [prefix], missing: length };
          } else {
            passing = length;
            this.#messages.push(undefined);
          }
        }
      }
      const end = bytes.length - held.length;
      if (end > from) yield bytes.subarray(from, end);
    }
    if (taken !== undefined) yield* taken.chunks;
    else if (held.length > 0) yield held;
  }

  /**
   * Passes on a body that is one message. Its header for the length must be removed if it would be taken out by that
   * length; without a length in the headers, it is taken out by its own.
   */
  async *fromWhole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > this.#maxBytes) yield* chunks.splice(0);
    }
    if (this.#takes(length)) {
      this.#keep(Buffer.concat(chunks));
      if (this.#form === 'json') yield EMPTY_JSON;
    } else if (this.#rewrites(length)) yield this.#passOn(Buffer.concat(chunks));
    else {
      this.#messages.push(undefined);
      yield* chunks;
    }
  }

  /** Whether a body of this length, by its headers, is one to take out; also without a length. */
  takesWhole(contentLength: string | null): boolean {
    const length = Number(contentLength);
    return contentLength === null || this.#takes(length) || this.#rewrites(length);
  }

  #takes(bytes: number): boolean {
    return bytes <= this.#maxBytes && this.#reader.takes(bytes);
  }

  /** Whether a message of this length, which Connect parses, may have to get another form. */
  #rewrites(bytes: number): boolean {
    return bytes > 0 && bytes <= this.#maxBytes && this.#form === 'json' && this.#reader.exact !== undefined;
  }

  /** The form in which Connect parses a message. */
  #passOn(message: Uint8Array): Uint8Array {
    this.#messages.push(undefined);
    return this.#reader.exact?.(message) ?? message;
  }

  #keep(bytes: Uint8Array): void {
    this.#messages.push({ bytes, form: this.#form });
  }

  #emptyEnvelope(): Uint8Array {
    return this.#form === 'json' ? EMPTY_JSON_ENVELOPE : EMPTY_BINARY_ENVELOPE;
  }
}

const EMPTY_JSON = Buffer.from('{}');
const EMPTY_BINARY_ENVELOPE = inEnvelope(0, NOTHING);
const EMPTY_JSON_ENVELOPE = inEnvelope(0, EMPTY_JSON);
