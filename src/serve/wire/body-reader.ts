import { Code, ConnectError } from '@connectrpc/connect';
import type { MessageSource } from './message-reader.js';

/** Collects a body that is one message, without an envelope, as unary calls of Connect have it. */
export class BodyReader implements MessageSource {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    this.#chunks.push(chunk);
  }

  next(): undefined {
    return undefined;
  }

  /** The body; empty if there was none. */
  last(): Buffer {
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }

  clear(): void {
    this.#chunks = [];
    this.#length = 0;
  }
}

/** Worded like Connect's error. */
function tooLarge(maxBytes: number): ConnectError {
  const text = `message size is larger than configured readMaxBytes ${maxBytes}`;
  return new ConnectError(text, Code.ResourceExhausted);
}
