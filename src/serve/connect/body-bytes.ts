import { Code, ConnectError } from '@connectrpc/connect';
import { timeLimited } from '../../contract/call/time-limited.js';
import { type CallTicket, FREE_BYTES } from '../admission/call-ticket.js';
import { messageTooSlow } from '../call/deadline.js';
import { PREFIX_LENGTH } from '../wire/envelope.js';
import { toConnectError } from '../wire/error-status.js';

/** Passes the body of a call with one message on. Fails with a ConnectError when its bytes are too many. */
export async function* countedBody(
  body: AsyncIterable<Uint8Array>,
  ticket: CallTicket,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    orRelease(ticket, () => ticket.holdMore(chunk.length));
    yield chunk;
  }
}

/**
 * The same for a stream of messages: counts the current message, and a large one has to arrive within
 * `limitMs`. Time in which no more of it is requested does not count.
 */
export async function* countedStream(
  body: AsyncIterable<Uint8Array>,
  ticket: CallTicket,
  limitMs: number,
): AsyncGenerator<Uint8Array> {
  const meter = new MessageMeter();
  const chunks = body[Symbol.asyncIterator]();
  let leftMs = limitMs;
  try {
    while (true) {
      const isLarge = meter.arrived > FREE_BYTES;
      const started = isLarge ? performance.now() : 0;
      const next = chunks.next();
      const chunk = isLarge
        ? await timeLimited(next, leftMs, () => {
            throw messageTooSlow(limitMs);
          })
        : await next;
      if (chunk.done === true) return;
      const { messages } = meter;
      meter.push(chunk.value);
      orRelease(ticket, () => ticket.hold(meter.arrived));
      if (meter.messages > messages) leftMs = limitMs;
      else if (isLarge) leftMs -= performance.now() - started;
      yield chunk.value;
    }
  } catch (error) {
    ticket.release();
    throw error;
  } finally {
    // Not awaited: it would wait for a chunk that may never arrive.
    chunks.return?.().catch(() => {});
  }
}

/** Passes a body on. Fails with a ConnectError as soon as a message exceeds `limit` bytes. */
export async function* smallMessages(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const meter = new MessageMeter();
  for await (const chunk of body) {
    meter.push(chunk);
    if (meter.arrived > limit + PREFIX_LENGTH) {
      throw new ConnectError(
        `messages of this call must not be larger than ${limit} bytes`,
        Code.ResourceExhausted,
      );
    }
    yield chunk;
  }
}

function orRelease(ticket: CallTicket, change: () => void): void {
  try {
    change();
  } catch (error) {
    ticket.release();
    throw toConnectError(error);
  }
}

/** Tracks message boundaries in the chunks of a stream. */
export class MessageMeter {
  /** Number of complete messages. */
  messages = 0;
  /** Bytes received of the current message, including its prefix. */
  arrived = 0;
  /** Its length, as far as the prefix has arrived. */
  #length = 0;

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.arrived < PREFIX_LENGTH) {
        if (this.arrived > 0) this.#length = this.#length * 256 + (chunk[at] ?? 0);
        this.arrived += 1;
        at += 1;
      } else {
        const taken = Math.min(PREFIX_LENGTH + this.#length - this.arrived, chunk.length - at);
        this.arrived += taken;
        at += taken;
      }
      if (this.arrived >= PREFIX_LENGTH && this.arrived === PREFIX_LENGTH + this.#length) {
        this.messages += 1;
        this.arrived = 0;
        this.#length = 0;
      }
    }
  }
}
