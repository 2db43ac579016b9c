import { Code, ConnectError } from '@connectrpc/connect';
import { unexpectedCompression } from '../connect/message-errors.js';

/** Bytes before each message: flags and length (gRPC over HTTP2, "Length-Prefixed-Message"). */
const PREFIX_LENGTH = 5;
/** The flag of a compressed message. The other bits have no meaning and are ignored. */
const COMPRESSED = 1;

/**
 * Cuts the body of a call into its messages. Nothing is copied as long as a message lies within one chunk. It holds
 * at most one message of the largest size and the chunk behind it.
 */
export class MessageReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  /** Bytes in all chunks. */
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether bytes are left that are no whole message. */
  get isInsideMessage(): boolean {
    return this.#length > 0;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next message, a view of what was pushed; undefined until it is complete. Throws a ConnectError. */
  next(): Buffer | undefined {
    if (this.#length < PREFIX_LENGTH) return undefined;
    const first = this.#first(PREFIX_LENGTH);
    const size = first.readUInt32BE(1);
    if (size > this.#maxBytes) throw tooLarge(size, this.#maxBytes);
    const end = PREFIX_LENGTH + size;
    if (this.#length < end) return undefined;
    const whole = this.#first(end);
    this.#length -= end;
    if (whole.length === end) this.#chunks.shift();
    else this.#chunks[0] = whole.subarray(end);
    if (((whole[0] ?? 0) & COMPRESSED) !== 0) throw unexpectedCompression();
    return whole.subarray(PREFIX_LENGTH, end);
  }

  /** The first chunk, joined with others until it has at least `length` bytes. There must be that many. */
  #first(length: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= length) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
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
