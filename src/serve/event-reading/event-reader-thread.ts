/**
 * A thread that reads messages with events. It receives requests `UnreadEvents` with an `id` and answers each with a
 * `ReaderAnswer` of the same `id`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { runInBackground } from '../../contract/runtime/background-thread.js';
import { packEvents } from '../../observe/events/read-events.js';
import { decodeRow, encodeEvent } from '../../observe/events/sql/event-row.js';
import type { EventCodec, EventStore } from '../../observe/events/store/event-store.js';
import { createEventMessages, type UnreadEvents } from './event-messages.js';
import type { ReaderAnswer, ReaderThreadData } from './event-readers.js';
import { packError } from './sent-error.js';

const { kind } = workerData as ReaderThreadData;
runInBackground();

const read = createEventMessages(await codecOf(kind));
parentPort?.on('message', (request: UnreadEvents & { readonly id: unknown }) => {
  parentPort?.postMessage({ id: request.id, ...answerTo(request) });
});
parentPort?.postMessage({ ready: true });

/** The codec of a kind of store. Where events are stored in ClickHouse, the service has loaded its package. */
async function codecOf(kind: EventStore['kind']): Promise<EventCodec> {
  if (kind !== 'clickhouse') return { encode: encodeEvent, decode: decodeRow };
  const { CODEC } = await import('../../../packages/events-clickhouse/src/index.js');
  return CODEC;
}

function answerTo(request: UnreadEvents): ReaderAnswer {
  try {
    return { events: packEvents(read(request)) };
  } catch (error) {
    return { error: packError(error) };
  }
}
