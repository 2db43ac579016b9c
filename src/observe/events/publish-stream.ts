import type { CallContext } from '../../contract/call/handler.js';
import type { ReadEvents } from './read-events.js';
import { type Acknowledged, type StreamStore, StreamStoreError, withProgress } from './stream-store.js';

/** Implements PublishEvents. */
export type PublishStream = (
  messages: AsyncIterable<ReadEvents>,
  context: Pick<CallContext, 'signal'>,
) => AsyncGenerator<object>;

/**
 * Stores the events of a stream, and acknowledges its messages while it is open. A reader of the replies that is slower
 * than the database receives fewer of them: each contains everything that is acknowledged when it is sent.
 */
export function createPublishStream(store: StreamStore): PublishStream {
  return async function* publish(messages, context) {
    let latest: Acknowledged = { messages: 0, stored: 0, dropped: 0 };
    let end: { readonly error?: unknown } | undefined;
    let wake: () => void = () => {};
    const ended = (how: { readonly error?: unknown }): void => {
      end = how;
      wake();
    };
    store(messages, context, (acknowledged) => {
      latest = acknowledged;
      wake();
    }).then(
      () => ended({}),
      (error: unknown) => ended({ error }),
    );
    let told = 0;
    while (end === undefined || latest.messages > told) {
      if (latest.messages > told) {
        told = latest.messages;
        yield { acknowledged_messages: told, stored: latest.stored, dropped: latest.dropped };
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    const { error } = end;
    if (error instanceof StreamStoreError) throw publishError(error, told);
    if (error !== undefined) throw error;
  };
}

function publishError(error: StreamStoreError, acknowledged: number): unknown {
  const soFar = `${acknowledged} message(s) of this stream are acknowledged.`;
  return withProgress(error, soFar, { acknowledged_messages: String(acknowledged) });
}
