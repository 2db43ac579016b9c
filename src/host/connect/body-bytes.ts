import { toConnectError } from '../errors/connect-error.js';
import type { HeldBytes } from '../limits/byte-budget.js';

/** Bytes before each message of a stream: flags and length. The same in gRPC, gRPC-Web and Connect. */
const PREFIX_LENGTH = 5;

/**
 * Passes a request body on, and counts what has arrived of it: everything when it is one message, else what the
 * message under way has so far. Fails with a ConnectError when that is too much.
 */
export async function* countedBody(
  body: AsyncIterable<Uint8Array>,
  held: HeldBytes,
  isOneMessage: boolean,
): AsyncGenerator<Uint8Array> {
  const meter = new MessageMeter();
  for await (const chunk of body) {
    try {
      if (isOneMessage) held.add(chunk.length);
      else held.set(meter.afterNext(chunk));
    } catch (error) {
      held.release();
      throw toConnectError(error);
    }
    yield chunk;
  }
}

/** Follows the messages of a stream through the chunks they come in. */
export class MessageMeter {
  /** Bytes that the message under way has so far, its prefix among them. */
  #arrived = 0;
  /** Its length, as far as its prefix has arrived. */
  #length = 0;

  /** Bytes that the message under way has when this chunk has arrived; 0 when it ends with a message. */
  afterNext(chunk: Uint8Array): number {
    for (let at = 0; at < chunk.length; ) {
      if (this.#arrived < PREFIX_LENGTH) {
        if (this.#arrived > 0) this.#length = this.#length * 256 + (chunk[at] ?? 0);
        this.#arrived += 1;
        at += 1;
      } else {
        const taken = Math.min(PREFIX_LENGTH + this.#length - this.#arrived, chunk.length - at);
        this.#arrived += taken;
        at += taken;
      }
      if (this.#arrived === PREFIX_LENGTH + this.#length && this.#arrived >= PREFIX_LENGTH) {
        this.#arrived = 0;
        this.#length = 0;
      }
    }
    return this.#arrived;
  }
}
