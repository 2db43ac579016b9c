/**
 * A thread that reads messages with events. It receives requests `UnreadEvents` with an `id` and answers each with a
 * `ReaderAnswer` of the same `id`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { runInBackground } from '../../contract/runtime/background-thread.js';
import { codecOf } from '../../observe/events/event-codecs.js';
import { packEvents } from '../../observe/events/read-events.js';
import { createEventMessages, type UnreadEvents } from './event-messages.js';
import type { ReaderAnswer, ReaderThreadData } from './event-readers.js';
import { packError } from './sent-error.js';

const { kind } = workerData as ReaderThreadData;
runInBackground();

const read = createEventMessages(codecOf(kind));
parentPort?.on('message', (request: UnreadEvents & { readonly id: unknown }) => {
  parentPort?.postMessage({ id: request.id, ...answerTo(request) });
});
parentPort?.postMessage({ ready: true });

function answerTo(request: UnreadEvents): ReaderAnswer {
  try {
    return { events: packEvents(read(request)) };
  } catch (error) {
    return { error: packError(error) };
  }
}
