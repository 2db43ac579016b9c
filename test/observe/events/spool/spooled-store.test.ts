import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { printEvent, readEvent } from '../../../../src/observe/events/spool/event-text.js';
import { createSpooledStore } from '../../../../src/observe/events/spool/spooled-store.js';
import { createSqlEventStore } from '../../../../src/observe/events/sql/sql-event-store.js';
import { type ControlEvent, ORIGINS } from '../../../../src/observe/events/store/event.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { unavailable } from '../../../../src/storage/database/errors.js';
import { describeOnSqlite } from '../../../support/databases.js';
import { keptFailures, type LoggedFailure, NO_FAILURES } from '../../../support/failures.js';
import { until } from '../../../support/until.js';
import { eventArbitrary, storedEvent } from '../events.support.js';

const NOW = 1_760_000_000_123;
const event = (id: string): ControlEvent => storedEvent({ control_execution_id: id });

/** A store that can be away. */
function interrupted(
  store: EventStore,
): EventStore & { state: 'there' | 'away' | 'stuck'; writes: string[][] } {
  return {
    ...store,
    state: 'there',
    writes: [],
    async write(events) {
      if (this.state === 'away') throw unavailable('The event store cannot be reached.');
      if (this.state === 'stuck') await new Promise(() => {});
      await store.write(events);
      this.writes.push(events.map((one) => one.event.control_execution_id));
    },
  };
}

it('events are the same after they were printed and read', () => {
  fc.assert(
    fc.property(eventArbitrary(NOW, ORIGINS), (one) => {
      const big = { ...one, metadata: { n: 12_345_678_901_234_567_890n, list: [1.5, null, "it's"] } };
      expect(readEvent(printEvent(big))).toEqual(big);
    }),
  );
});

describeOnSqlite('events in the spool', (freshUrl) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'spooled-'));
  let database: Database;
  let real: ReturnType<typeof interrupted>;
  let run = 0;
  const open = (more: { maxOctets?: number; slowMs?: number; failures?: LoggedFailure[] } = {}) =>
    createSpooledStore({
      store: real,
      directory: path.join(directory, String(run)),
      maxOctets: more.maxOctets ?? 1_000_000,
      failures: more.failures === undefined ? NO_FAILURES : keptFailures(more.failures),
      ...(more.slowMs === undefined ? {} : { slowMs: more.slowMs }),
    });
  const write = (store: EventStore, ...ids: string[]) =>
    store.write(ids.map((id) => store.encode(event(id))));
  const stored = async () => {
    const { events } = await real.search.page({}, { limit: 1_000 });
    return events.map(({ control_execution_id: id }) => id).toSorted();
  };

  beforeEach(async () => {
    run += 1;
    await database?.close();
    database = await openDatabase({ url: await freshUrl() });
    real = interrupted(createSqlEventStore({ database, now: () => NOW }));
  });
  afterAll(async () => {
    await database.close();
    rmSync(directory, { recursive: true });
  });

  it('are not written while the store is there', async () => {
    const store = open();
    await write(store, 'a');
    expect(store.spool).toMatchObject({ octets: 0, isEmpty: true });
    expect(await stored()).toEqual(['a']);
    await store.close();
  });

  it('are stored in their order when the store is back, before later ones', async () => {
    const logged: LoggedFailure[] = [];
    const store = open({ failures: logged });
    real.state = 'away';
    for (let index = 0; index < 20; index += 1) await write(store, `away-${index}`);
    expect(await stored()).toEqual([]);
    expect(logged.map(({ message }) => message)).toContain(
      'the event store is away; events are kept in the spool',
    );
    real.state = 'there';
    await write(store, 'later');
    await until(
      () => store.spool.isEmpty,
      (isEmpty) => isEmpty,
    );
    expect(real.writes.flat()).toEqual([
      ...Array.from({ length: 20 }, (_, index) => `away-${index}`),
      'later',
    ]);
    await write(store, 'direct');
    expect(await stored()).toHaveLength(22);
    await store.close();
  });

  it('survive the process, and are stored once by the next one', async () => {
    const store = open();
    real.state = 'away';
    await write(store, 'a', 'b');
    await write(store, 'b', 'c');
    await store.close();
    real.state = 'there';
    const next = open();
    await write(next, 'd');
    await until(
      () => next.spool.isEmpty,
      (isEmpty) => isEmpty,
    );
    expect(await stored()).toEqual(['a', 'b', 'c', 'd']);
    await next.close();
  });

  it('are refused when the spool is full', async () => {
    const store = open({ maxOctets: 2_000 });
    real.state = 'away';
    await write(store, 'a');
    await expect(write(store, 'b', 'c', 'd', 'e')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
    real.state = 'there';
    await until(
      () => store.spool.isEmpty,
      (isEmpty) => isEmpty,
    );
    await write(store, 'b');
    expect(await stored()).toEqual(['a', 'b']);
    await store.close();
  });

  it('do not wait for a store that does not answer', async () => {
    const store = open({ slowMs: 5 });
    real.state = 'stuck';
    await write(store, 'a');
    expect(store.spool.isEmpty).toBe(false);
    real.state = 'there';
  });

  it('need a directory that can be created', () => {
    const file = path.join(directory, 'file');
    writeFileSync(file, '');
    expect(() =>
      createSpooledStore({
        store: real,
        directory: path.join(file, 'below'),
        maxOctets: 1,
        failures: NO_FAILURES,
      }),
    ).toThrow(/cannot be created/);
  });
});
