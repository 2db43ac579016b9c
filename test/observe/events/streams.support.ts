import { createIngest } from '../../../src/observe/events/event-ingest.js';
import { readEvents } from '../../../src/observe/events/read-events.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import type { EncodedEvent } from '../../../src/observe/events/store/event-store.js';
import { until } from '../../support/until.js';
import { storedEvent } from './events.support.js';

/** A message with this many events. */
export const message = (size: number) =>
  readEvents(
    Array.from({ length: size }, () => storedEvent()),
    encodeEvent,
  );

/** A store whose transactions end when the test says so. */
export function store(queuedEvents = 100_000) {
  const open: { events: readonly EncodedEvent[]; end: (error?: Error) => void }[] = [];
  let written = 0;
  const ingest = createIngest({
    store: {
      groupLimits: { events: 2_000, length: 8 * 1024 * 1024 },
      write: (events) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => {
            if (error === undefined) written += events.length;
            if (error === undefined) resolve();
            else reject(error);
          };
          open.push({ events, end });
        }),
    },
    log: { info: () => {} },
    logEvents: false,
    limits: { queuedEvents },
  });
  return {
    ingest,
    get written() {
      return written;
    },
    /** Ends the transaction that is open, once there is one. */
    async commit(error?: Error) {
      await until(
        () => open.length,
        (count) => count > 0,
      );
      open.shift()?.end(error);
    },
  };
}

/** Messages that count how many were asked for; after them the stream stays open until it is ended. */
export function source(sizes: readonly number[], stays = false) {
  const asked = { count: 0, returned: false };
  const messages: AsyncIterable<ReturnType<typeof message>> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const size = sizes[asked.count];
        asked.count += 1;
        if (size !== undefined) return { done: false, value: message(size) };
        if (stays) await new Promise(() => {});
        return { done: true, value: undefined };
      },
      async return() {
        asked.returned = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return { asked, messages };
}
