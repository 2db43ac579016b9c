import { protocolOf } from './protocol.js';

/** Bytes before a message in an envelope: flags and length. */
const PREFIX_LENGTH = 5;

/** Keeps the bytes of a request with one JSON message, of which Connect gives only what the message knows. */
export class JsonCopy {
  readonly #hasEnvelope: boolean;
  readonly #chunks: Uint8Array[] = [];

  constructor(hasEnvelope: boolean) {
    this.#hasEnvelope = hasEnvelope;
  }

  /** Passes a body on and keeps its chunks; they count as part of the request already. */
  async *copying(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#chunks.push(chunk);
      yield chunk;
    }
  }

  /** The message as text. To be asked for once the message has been read. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    return bytes.toString('utf8', this.#hasEnvelope ? PREFIX_LENGTH : 0);
  }
}

/** A copy for a request of a content type; null when that is not JSON. */
export function jsonCopyFor(contentType: string): JsonCopy | null {
  const isConnectUnary = /^application\/json\s*(?:;|$)/i.test(contentType);
  if (!isConnectUnary && !/^application\/[\w-]+\+json\s*(?:;|$)/i.test(contentType)) return null;
  // Of gRPC-Web as base64 text there is no JSON form.
  return new JsonCopy(!isConnectUnary || protocolOf(contentType) !== 'connect');
}
