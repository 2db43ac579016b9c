import type { TailEvent } from '../store/event-tail.js';
import type { SinkSession } from './event-sink.js';

/** Time for requests that are under way when a session is closed, in milliseconds. */
const CLOSE_MS = 2_000;

export interface ForwardingOptions {
  /** Sends the events. The session closes it. */
  readonly sender: { close(limitMs: number): Promise<void> };
  /** Connects; resolves with the position up to which every event was taken before. */
  connect(): Promise<bigint>;
  /**
   * Resolves when the destination has all of these events for good. There is at least one. `reached` tells that it has
   * those up to a position, so that these are not sent again when a later one fails.
   */
  send(events: readonly TailEvent[], reached: (position: bigint) => void): Promise<unknown>;
}

/** Opens a session of a destination that has every event for good as soon as it has taken it. See `EventSink.open`. */
export async function openForwarding(
  { sender, connect, send }: ForwardingOptions,
  signal: AbortSignal,
): Promise<SinkSession> {
  signal.addEventListener('abort', () => void sender.close(0));
  let durable: bigint;
  try {
    durable = await connect();
  } catch (error) {
    await sender.close(CLOSE_MS);
    throw error;
  }
  return {
    start: durable,
    get durable() {
      return durable;
    },
    async take(events, upTo) {
      if (events.length > 0) {
        await send(events, (position) => {
          durable = position;
        });
      }
      durable = upTo;
    },
    rest: async () => {},
    async rewind(position) {
      durable = position;
    },
    finish: async () => {},
    close: () => sender.close(CLOSE_MS),
  };
}
