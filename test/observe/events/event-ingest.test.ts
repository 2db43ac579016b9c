import { describe, expect, it } from 'vitest';
import { createIngest, IngestFullError } from '../../../src/observe/events/event-ingest.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import type { EncodedEvent } from '../../../src/observe/events/store/event-store.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';
import { storedEvent } from './events.support.js';

/** What PostgreSQL says of a number that a column cannot hold. */
const outOfRange = () => Object.assign(new Error('out of range'), { code: '22003' });
/** What PostgreSQL says of a table that is not there. */
const noTable = () => Object.assign(new Error('no such table'), { code: '42P01' });

const events = (...ids: string[]) => ids.map((id) => encodeEvent(storedEvent({ control_execution_id: id })));

/** A store whose transactions end when the test says so. */
function store() {
  const batches: string[][] = [];
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const write = (batch: readonly EncodedEvent[]) => {
    batches.push(batch.map(({ event }) => event.control_execution_id));
    return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
  };
  const end = async (error?: Error) => {
    const next = open.shift();
    if (error === undefined) next?.resolve();
    else next?.reject(error);
    await new Promise(setImmediate);
  };
  return { batches, write, end };
}

function ingest(limits?: { queuedEvents: number }) {
  const { batches, write, end } = store();
  const logged: object[] = [];
  const log = { info: (facts: object) => logged.push(facts) };
  const meter = createObservabilityMeter();
  const options = {
    store: { groupLimits: { events: 2_000, length: 8 * 1024 * 1024 }, write },
    log,
    logEvents: true,
    meter,
    ...(limits === undefined ? {} : { limits }),
  };
  return { batches, end, logged, meter, ingest: createIngest(options) };
}

/** Whether a promise is settled by now. */
async function state(promise: Promise<void>): Promise<string> {
  const settled = promise.then(
    () => 'stored',
    () => 'refused',
  );
  await new Promise(setImmediate);
  return Promise.race([settled, Promise.resolve('open')]);
}

describe('events on their way into the database', () => {
  it('are committed together with what came while the last transaction ran', async () => {
    const { batches, end, ingest: take } = ingest();
    const calls = [take(events('a')), take(events('b', 'c')), take(events('d'))];
    expect(batches).toEqual([['a']]);
    await end();
    expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
    expect(await Promise.all(calls.map(state))).toEqual(['stored', 'open', 'open']);
    await end();
    expect(await Promise.all(calls.map(state))).toEqual(['stored', 'stored', 'stored']);
    const later = take(events('e'));
    expect(batches.at(-1)).toEqual(['e']);
    await end();
    await later;
  });

  it('are committed in groups of at most 2,000, whole calls each', async () => {
    const { batches, end, meter, ingest: take } = ingest();
    const many = (name: string) => events(...Array.from({ length: 900 }, (_, index) => `${name}${index}`));
    const calls = ['a', 'b', 'c', 'd'].map((name) => take(many(name)));
    expect(meter.queued()).toBe(3_600);
    await end();
    await end();
    await end();
    await Promise.all(calls);
    expect(batches.map((batch) => batch.length)).toEqual([900, 1_800, 900]);
  });

  it('are refused, and not kept, when too many wait', async () => {
    const { batches, end, ingest: take } = ingest({ queuedEvents: 3 });
    const calls = [take(events('a', 'b')), take(events('c'))];
    await expect(take(events('d'))).rejects.toBeInstanceOf(IngestFullError);
    await expect(take(events('d'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
    await end();
    await end();
    await Promise.all(calls);
    const again = take(events('d'));
    await end();
    await again;
    expect(batches).toEqual([['a', 'b'], ['c'], ['d']]);
  });

  it('are taken when there are more of them than may wait, but nothing waits', async () => {
    const { end, ingest: take } = ingest({ queuedEvents: 1 });
    const call = take(events('a', 'b'));
    await end();
    await call;
  });

  it('do not suffer from others that the database refuses', async () => {
    const { batches, end, ingest: take } = ingest();
    const calls = [take(events('a')), take(events('bad')), take(events('c'))];
    const refused = expect(calls[1]).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    await end();
    await end(outOfRange());
    await end(outOfRange());
    await end();
    await refused;
    expect(batches).toEqual([['a'], ['bad', 'c'], ['bad'], ['c']]);
    expect(await Promise.all(calls.map(state))).toEqual(['stored', 'refused', 'stored']);
  });

  it.each([unavailable('away'), new OutcomeUnknownError('gone')])(
    'are not tried one by one when the database is away',
    async (error) => {
      const { batches, end, ingest: take } = ingest();
      const calls = [take(events('a')), take(events('b')), take(events('c'))];
      await end();
      const refused = [expect(calls[1]).rejects.toBe(error), expect(calls[2]).rejects.toBe(error)];
      await end(error);
      await Promise.all(refused);
      expect(batches).toEqual([['a'], ['b', 'c']]);
    },
  );

  it.each([
    ['a table is missing', noTable()],
    ['a SQLite file is malformed', Object.assign(new Error('malformed'), { rawCode: 11 })],
    ['a row that has to be there is not', new Error('the row of the event log is missing')],
  ])('may be sent again when %s', async (_what, error) => {
    const { end, ingest: take } = ingest();
    const failed = expect(take(events('a'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
    await end(error);
    await failed;
  });

  it('are counted by who reported them, and why they were not stored', async () => {
    const { meter, end, ingest: take } = ingest({ queuedEvents: 3 });
    const calls = [take(events('a', 'b')), take([encodeEvent(storedEvent({ origin: 'service' }))])];
    expect(meter.queued()).toBe(3);
    await expect(take(events('d', 'e'))).rejects.toBeInstanceOf(IngestFullError);
    expect(meter.dropped.client.queue_full).toBe(2);
    await end();
    await end();
    await Promise.all(calls);
    expect([meter.stored, meter.queued()]).toEqual([{ client: 2, service: 1 }, 0]);
    for (const [error, code, reason, count] of [
      [unavailable('away'), 'SERVICE_UNAVAILABLE', 'storage', 1],
      [noTable(), 'SERVICE_UNAVAILABLE', 'storage', 2],
      [outOfRange(), 'DATABASE_ERROR', 'refused', 1],
    ] as const) {
      const failed = take(events('f'));
      const rejected = expect(failed).rejects.toMatchObject({ code });
      await end(error);
      await rejected;
      expect(meter.dropped.client[reason]).toBe(count);
    }
    expect(Object.values(meter.dropped.service)).toEqual([0, 0, 0, 0]);
  });

  it('are logged once they are stored', async () => {
    const { logged, end, ingest: take } = ingest();
    const call = take(events('a'));
    expect(logged).toEqual([]);
    await end();
    await call;
    expect(logged).toEqual([{ event: expect.objectContaining({ control_execution_id: 'a' }) }]);
    expect(logged[0]).not.toHaveProperty('event.origin');
  });
});
