import { Code, ConnectError } from '@connectrpc/connect';
import { unexpectedCompression } from '../wire/message-errors.js';

/** Bytes before each message: flags and length (gRPC over HTTP2, "Length-Prefixed-Message"). */
const PREFIX_LENGTH = 5;
/** The flag of a compressed message. The other bits have no meaning and are ignored. */
const COMPRESSED = 1;

const NOTHING = Buffer.alloc(0);

/**
 * Cuts the body of a call into its messages. Nothing is copied as long as messages lie within one chunk; a message in
 * many small ones is gathered in a buffer of its own, so that it takes no more memory than twice its size. At most
 * one message of the largest size and the chunk behind it are held.
 */
export class MessageReader {
  readonly #maxBytes: number;
  /** What is not read yet is between start and end. What is before start belongs to whoever got it. */
  #buffer: Buffer = NOTHING;
  #start = 0;
  #end = 0;
  /** Whether the space behind the end is ours. */
  #mayGrow = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether bytes are left that are no whole message. */
  get isInsideMessage(): boolean {
    return this.#end > this.#start;
  }

  /** Bytes that are not read yet. */
  get heldBytes(): number {
    return this.#end - this.#start;
  }

  /** Forgets everything. */
  clear(): void {
    this.#buffer = NOTHING;
    this.#start = 0;
    this.#end = 0;
    this.#mayGrow = false;
  }

  push(chunk: Buffer): void {
    const left = this.#end - this.#start;
    if (left === 0) {
      // Nothing is kept alive but what is in use.
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

  /** The next message, a view of what was pushed or gathered; undefined until it is complete. Throws a ConnectError. */
  next(): Buffer | undefined {
    if (this.#end - this.#start < PREFIX_LENGTH) return undefined;
    const size = this.#buffer.readUInt32BE(this.#start + 1);
    if (size > this.#maxBytes) throw tooLarge(size, this.#maxBytes);
    const from = this.#start + PREFIX_LENGTH;
    if (this.#end < from + size) return undefined;
    const flags = this.#buffer[this.#start] ?? 0;
    this.#start = from + size;
    if ((flags & COMPRESSED) !== 0) throw unexpectedCompression();
    const message = this.#buffer.subarray(from, this.#start);
    return message;
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

/** The words of Connect. */
function tooLarge(size: number, maxBytes: number): ConnectError {
  const text = `message size ${size} is larger than configured readMaxBytes ${maxBytes}`;
  return new ConnectError(text, Code.ResourceExhausted);
}

/** The body ended inside a message; the words of Connect. */
export function incompleteMessage(): ConnectError {
  return new ConnectError('protocol error: incomplete envelope', Code.InvalidArgument);
}
