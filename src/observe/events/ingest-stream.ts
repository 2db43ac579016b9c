import type { CallContext } from '../../contract/call/handler.js';
import type { ReadEvents } from './read-events.js';
import { type StreamStore, StreamStoreError, withProgress } from './stream-store.js';

/** Implements IngestEvents. */
export type IngestStream = (
  messages: AsyncIterable<ReadEvents>,
  context: Pick<CallContext, 'signal'>,
) => Promise<object>;

/** Stores the events of a stream, and replies when all of them are processed. */
export function createIngestStream(store: StreamStore): IngestStream {
  return async (messages, context) => {
    try {
      const { stored, dropped } = await store(messages, context, () => {});
      return { received: stored + dropped, stored, dropped };
    } catch (error) {
      if (!(error instanceof StreamStoreError)) throw error;
      const soFar = `${error.stored} event(s) of this stream are stored.`;
      throw withProgress(error, soFar, { stored_events: String(error.stored) });
    }
  };
}
