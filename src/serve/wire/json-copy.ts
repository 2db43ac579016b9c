import { PREFIX_LENGTH } from './envelope.js';
import { mediaTypeOf } from './media-types.js';

/** Keeps the bytes of a request with one JSON message, of which Connect returns only the declared fields. */
export class JsonCopy {
  readonly #hasEnvelope: boolean;
  readonly #chunks: Uint8Array[] = [];

  constructor(hasEnvelope: boolean) {
    this.#hasEnvelope = hasEnvelope;
  }

  /** Passes a body on and keeps its chunks; they are already counted as part of the request. */
  async *copying(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#chunks.push(chunk);
      yield chunk;
    }
  }

  /** Keeps bytes that did not arrive as a body. */
  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
  }

  /** The message as text. Only valid after the message has been read. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    return bytes.toString('utf8', this.#hasEnvelope ? PREFIX_LENGTH : 0);
  }
}

/** A copy for a request of a content type; null if it is not JSON. */
export function jsonCopyFor(contentType: string | undefined): JsonCopy | null {
  const { isJson, isWhole } = mediaTypeOf(contentType);
  return isJson ? new JsonCopy(!isWhole) : null;
}
