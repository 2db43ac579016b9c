import { Code, ConnectError } from '@connectrpc/connect';
import { ENVELOPE_FLAGS, PREFIX_LENGTH } from './envelope.js';
import { unexpectedCompression } from './message-errors.js';

const NOTHING = Buffer.alloc(0);

/** Takes the chunks of a body and gives its messages. Throws the ConnectError of the call. */
export interface MessageSource {
  /** Number of bytes that are held. */
  readonly heldBytes: number;
  push(chunk: Buffer): void;
  /** The next message that is complete before the end of the body. */
  next(): Buffer | undefined;
  /** The message that the end of the body completes. */
  last(): Buffer | undefined;
  /** Drops all data. */
  clear(): void;
}

/**
 * Splits the body of a call into messages. Messages within one chunk are not copied; a message in many small
 * chunks is collected in a separate buffer of at most twice its size. Holds at most one message of the
 * largest size and the chunk after it.
 */
export class MessageReader implements MessageSource {
  readonly #maxBytes: number;
  readonly #ignoredFlag: number;
  /** Unread data is between start and end. Data before start was handed out. */
  #buffer: Buffer = NOTHING;
  #start = 0;
  #end = 0;
  /** Whether the space after the end may be written. */
  #mayGrow = false;

  /** Envelopes with `ignoredFlag` hold no message. */
  constructor(maxBytes: number, ignoredFlag = 0) {
    this.#maxBytes = maxBytes;
    this.#ignoredFlag = ignoredFlag;
  }

  /** Whether there are bytes of an incomplete message. */
  get isInsideMessage(): boolean {
    return this.#end > this.#start;
  }

  /** Number of unread bytes. */
  get heldBytes(): number {
    return this.#end - this.#start;
  }

  clear(): void {
    this.#buffer = NOTHING;
    this.#start = 0;
    this.#end = 0;
    this.#mayGrow = false;
  }

  push(chunk: Buffer): void {
    const left = this.#end - this.#start;
    if (left === 0) {
      // Only data in use is kept alive.
      this.#buffer = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#mayGrow = false;
      return;
    }
    if (!this.#mayGrow || this.#end + chunk.length > this.#buffer.length) this.#grow(left, chunk.length);
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
  }

  /** The next message, a view of the received data; undefined until it is complete. Throws a ConnectError. */
  next(): Buffer | undefined {
    while (this.#end - this.#start >= PREFIX_LENGTH) {
      const size = this.#buffer.readUInt32BE(this.#start + 1);
      if (size > this.#maxBytes) throw tooLarge(size, this.#maxBytes);
      const from = this.#start + PREFIX_LENGTH;
      if (this.#end < from + size) return undefined;
      const flags = this.#buffer[this.#start] ?? 0;
      this.#start = from + size;
      // The other bits have no meaning and are ignored.
      if ((flags & ENVELOPE_FLAGS.compressed) !== 0) throw unexpectedCompression();
      if ((flags & this.#ignoredFlag) === 0) return this.#buffer.subarray(from, this.#start);
    }
    return undefined;
  }

  /** Nothing. Throws if the body ended inside a message. */
  last(): undefined {
    if (this.isInsideMessage) throw incompleteMessage();
    return undefined;
  }

  #grow(left: number, more: number): void {
    const grown = Buffer.allocUnsafe(Math.max(left + more, 2 * left));
    this.#buffer.copy(grown, 0, this.#start, this.#end);
    this.#buffer = grown;
    this.#start = 0;
    this.#end = left;
    this.#mayGrow = true;
  }
}

/** Worded like Connect's error. */
function tooLarge(size: number, maxBytes: number): ConnectError {
  const text = `message size ${size} is larger than configured readMaxBytes ${maxBytes}`;
  return new ConnectError(text, Code.ResourceExhausted);
}

/** The body ended inside a message; worded like Connect's error. */
function incompleteMessage(): ConnectError {
  return new ConnectError('protocol error: incomplete envelope', Code.InvalidArgument);
}
