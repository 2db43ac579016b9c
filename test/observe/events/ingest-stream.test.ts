import { describe, expect, it } from 'vitest';
import { type Ingest, IngestFullError } from '../../../src/observe/events/event-ingest.js';
import { createIngestStream } from '../../../src/observe/events/ingest-stream.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { createStreamStore } from '../../../src/observe/events/stream-store.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';
import { NO_FAILURES } from '../../support/failures.js';
import { until } from '../../support/until.js';
import { message, source, store } from './streams.support.js';

function streamOf(ingest: Ingest, limits = { fullPauseMs: 1, fullAttempts: 1_000_000 }) {
  return createIngestStream(
    createStreamStore({ ingest, meter: createObservabilityMeter(), failures: NO_FAILURES, limits }),
  );
}

const signal = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a stream of events that is stored', () => {
  it('is read no further than what may wait for its commit', async () => {
    const database = store();
    const { asked, messages } = source(Array.from({ length: 20 }, () => 1_000));
    const reply = streamOf(database.ingest)(messages, { signal });
    await until(
      () => asked.count,
      (count) => count === 4,
    );
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(asked.count).toBe(4);
    await database.commit();
    await until(
      () => asked.count,
      (count) => count > 4,
    );
    let done = false;
    void reply.then(() => {
      done = true;
    });
    while (!done) {
      await Promise.race([database.commit(), reply]);
      await settled();
    }
    expect(await reply).toEqual({ received: 20_000, stored: 20_000, dropped: 0 });
    expect(database.written).toBe(20_000);
  });

  it('waits while others fill the queue, and continues when there is room', async () => {
    const database = store(10);
    const others = database.ingest(message(10).encoded);
    const { asked, messages } = source([3, 3]);
    const reply = streamOf(database.ingest)(messages, { signal });
    await until(
      () => asked.count,
      (count) => count === 1,
    );
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(asked.count).toBe(1);
    await database.commit();
    await others;
    await database.commit();
    await database.commit();
    expect(await reply).toEqual({ received: 6, stored: 6, dropped: 0 });
  });

  it('ends with a time to retry when the queue stays full, and reports how much is stored', async () => {
    const { messages } = source([4, 3]);
    let offered = 0;
    const ingest: Ingest = async (_events, onQueued) => {
      offered += 1;
      if (offered > 1) throw new IngestFullError();
      onQueued?.();
    };
    const reply = streamOf(ingest, { fullPauseMs: 1, fullAttempts: 3 })(messages, { signal });
    await expect(reply).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1, facts: { stored_events: '4' } },
    });
    expect(offered).toBe(4);
  });

  it.each([
    ['the database is away', unavailable('away')],
    ['it is unknown whether they are stored', new OutcomeUnknownError('gone')],
    ['the storage is damaged', Object.assign(new Error('malformed'), { rawCode: 11 })],
  ])('ends although the client sends nothing more when %s', async (_what, failure) => {
    const database = store();
    const { asked, messages } = source([5, 7], true);
    const reply = streamOf(database.ingest)(messages, { signal });
    const refused = expect(reply).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1, facts: { stored_events: '5' } },
    });
    await until(
      () => asked.count,
      (count) => count === 3,
    );
    await database.commit();
    await database.commit(failure);
    await refused;
    expect(asked.returned).toBe(true);
  });

  it('drops what the database refuses, and continues', async () => {
    const database = store();
    const { messages } = source([5, 7]);
    const reply = streamOf(database.ingest)(messages, { signal });
    await database.commit(Object.assign(new Error('out of range'), { code: '22003' }));
    await database.commit();
    expect(await reply).toEqual({ received: 12, stored: 7, dropped: 5 });
  });

  it('ends with the reason of the caller while it waits for room', async () => {
    const database = store(10);
    void database.ingest(message(10).encoded);
    const { asked, messages } = source([3]);
    const caller = new AbortController();
    const reply = streamOf(database.ingest, { fullPauseMs: 3_600_000, fullAttempts: 2 })(messages, caller);
    const refused = expect(reply).rejects.toThrow('gone');
    await until(
      () => asked.count,
      (count) => count === 1,
    );
    await settled();
    caller.abort(new Error('gone'));
    await refused;
  });
});
