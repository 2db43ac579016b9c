import { describe, expect, it } from 'vitest';
import type { Ingest } from '../../../src/observe/events/event-ingest.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { createPublishStream } from '../../../src/observe/events/publish-stream.js';
import { readEvents } from '../../../src/observe/events/read-events.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createStreamStore } from '../../../src/observe/events/stream-store.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';
import { NO_FAILURES } from '../../support/failures.js';
import { until } from '../../support/until.js';
import { storedEvent } from './events.support.js';
import { message, source, store } from './streams.support.js';

const signal = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const reply = (acknowledged_messages: number, stored: number, dropped = 0) => ({
  acknowledged_messages,
  stored,
  dropped,
});

function publish(
  ingest: Ingest,
  messages: Parameters<ReturnType<typeof createPublishStream>>[0],
  by = signal,
) {
  const stream = createStreamStore({
    ingest,
    meter: createObservabilityMeter(),
    failures: NO_FAILURES,
    limits: { fullPauseMs: 1, fullAttempts: 3 },
  });
  return createPublishStream(stream)(messages, { signal: by });
}

describe('a stream of events with acknowledgements', () => {
  it('is acknowledged after each commit, with all messages before', async () => {
    const database = store();
    const { messages } = source([2, 3, 4]);
    const replies = publish(database.ingest, messages);
    const first = replies.next();
    await database.commit();
    expect(await first).toEqual({ done: false, value: reply(1, 2) });
    const second = replies.next();
    await database.commit();
    // The second and third message arrived during the first transaction, and shared the next one.
    for (let last = await second; !last.done; last = await replies.next()) {
      expect(last.value).toMatchObject({ dropped: 0 });
      if ((last.value as ReturnType<typeof reply>).acknowledged_messages === 3)
        expect(last.value).toEqual(reply(3, 9));
    }
    expect(database.written).toBe(9);
  });

  it('does not acknowledge a dropped message before the ones in front of it', async () => {
    const database = store();
    const overlong = readEvents([storedEvent({ control_execution_id: 'x'.repeat(37) })], encodeEvent);
    const { messages: first } = source([2]);
    async function* both() {
      yield* first;
      yield overlong;
    }
    const replies = publish(database.ingest, both());
    let answered = false;
    const next = replies.next().finally(() => {
      answered = true;
    });
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(answered).toBe(false);
    await database.commit();
    const { value } = await next;
    expect(value).toEqual(reply(2, 2, 1));
    expect(await replies.next()).toMatchObject({ done: true });
  });

  it('is read no further than what may wait for its commit, whether replies are read or not', async () => {
    const database = store();
    const { asked, messages } = source(Array.from({ length: 20 }, () => 1_000));
    const replies = publish(database.ingest, messages);
    void replies.next();
    await until(
      () => asked.count,
      (count) => count === 4,
    );
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(asked.count).toBe(4);
    while (database.written < 20_000) await database.commit();
    await until(
      () => asked.count,
      (count) => count === 21,
    );
    for (let turn = 0; turn < 5; turn += 1) await settled();
    // Replies that are read late contain everything at once.
    expect(await replies.next()).toEqual({ done: false, value: reply(20, 20_000) });
    expect(await replies.next()).toMatchObject({ done: true });
  });

  it.each([
    ['the database is away', unavailable('away')],
    ['it is unknown whether events are stored', new OutcomeUnknownError('gone')],
    ['the storage is damaged', Object.assign(new Error('malformed'), { rawCode: 11 })],
  ])('is acknowledged up to the failure, and ends with a time to retry, when %s', async (_what, failure) => {
    const database = store();
    const { asked, messages } = source([5, 7], true);
    const replies = publish(database.ingest, messages);
    const first = replies.next();
    await until(
      () => asked.count,
      (count) => count === 3,
    );
    await database.commit();
    expect(await first).toEqual({ done: false, value: reply(1, 5) });
    const refused = expect(replies.next()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1, facts: { acknowledged_messages: '1' } },
    });
    await database.commit(failure);
    await refused;
    expect(asked.returned).toBe(true);
  });

  it('ends with the reason of the server, after what it has read is stored and acknowledged', async () => {
    const database = store();
    const server = new AbortController();
    const reason = new Error('the server is shutting down');
    async function* open() {
      yield message(3);
      await new Promise((_resolve, reject) => {
        server.signal.addEventListener('abort', () => reject(reason));
      });
    }
    const replies = publish(database.ingest, open(), server.signal);
    const first = replies.next();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    server.abort(reason);
    for (let turn = 0; turn < 5; turn += 1) await settled();
    await database.commit();
    expect(await first).toEqual({ done: false, value: reply(1, 3) });
    await expect(replies.next()).rejects.toBe(reason);
  });
});
