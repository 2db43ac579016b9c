import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { createSqlEventStore } from '../../../../src/observe/events/sql/sql-event-store.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { createLease, LEASE_MS } from '../../../../src/storage/database/lease.js';
import { describeOnEachDatabase } from '../../../support/databases.js';
import { executeSql } from '../../../support/sql.js';
import { until } from '../../../support/until.js';
import { storedEvent } from '../events.support.js';
import { MemorySink, type TestRunner, testRunner } from './sinks.support.js';

const NOW = 1_760_000_000_000;
const DAY_MS = 86_400_000;

describeOnEachDatabase('a sink', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  let store: EventStore;
  let written = 0;
  const runners: TestRunner[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    store = createSqlEventStore({ database, now: () => NOW });
  });
  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.close();
    await executeSql(
      url,
      `BEGIN; DELETE FROM "event_sinks"; DELETE FROM "events";
       UPDATE "event_log" SET "events" = 0, "pruned_position" = 0; COMMIT`,
    );
  });
  afterAll(() => database.close());

  const run = (sink: MemorySink, more: Partial<Parameters<typeof testRunner>[0]> = {}) => {
    const runner = testRunner({ sink, database, tail: store.tail, ...more });
    runners.push(runner);
    runner.start();
    return runner;
  };
  async function write(count: number, ageMs = 0): Promise<string[]> {
    const us = BigInt(NOW - ageMs) * 1_000n;
    const events = Array.from({ length: count }, () => {
      written += 1;
      return storedEvent({ control_execution_id: `event-${written}`, timestamp: { us, text: 'any' } });
    });
    await store.write(events.map(store.encode));
    return events.map((event) => event.control_execution_id);
  }
  const received = (sink: MemorySink, count: number) =>
    until(
      () => sink.ids,
      (ids) => ids.length >= count,
    );
  /** A sink that took two events and stopped. */
  async function stoppedSink(): Promise<{ sink: MemorySink; first: string[] }> {
    const sink = new MemorySink();
    const first = await write(2);
    const runner = run(sink);
    await received(sink, 2);
    await runner.close();
    return { sink, first };
  }
  /** Stores events after others, which are then deleted because of their age. */
  async function writeAfterDeleted(count: number, deleted: number): Promise<string[]> {
    await write(deleted, 2 * DAY_MS);
    const recent = await write(count);
    const deleteBatch = store.retention.eventBatches(BigInt(NOW - DAY_MS) * 1_000n);
    while ((await deleteBatch()) > 0);
    return recent;
  }
  const head = async () => (await store.tail.state()).head;

  it('gets every stored event once, in the order of commits, those before its start included', async () => {
    const sink = new MemorySink();
    const before = await write(1_200);
    const runner = run(sink);
    await received(sink, 1_200);
    const after = [...(await write(3)), ...(await write(1))];
    expect(await received(sink, 1_204)).toEqual([...before, ...after]);
    await until(
      () => runner.figures.position,
      (position) => position > 0n,
    );
    expect(runner.figures).toMatchObject({ delivered: 1_204, failures: 0, missed: 0, isRunning: true });
  });

  it('begins with the events from now on if that is configured', async () => {
    const sink = new MemorySink();
    await write(3);
    const runner = run(sink, { from: 'now' });
    await until(
      () => runner.figures.isRunning && runner.figures.head > 0n,
      (isRunning) => isRunning,
    );
    expect(await received(sink, 0)).toEqual([]);
    const after = await write(2);
    expect(await received(sink, 2)).toEqual(after);
  });

  it('goes on after the stored position when it was closed in order', async () => {
    const sink = new MemorySink();
    const before = await write(5);
    const runner = run(sink);
    await received(sink, 5);
    await runner.close();
    expect(sink).toMatchObject({ opened: 1, finished: 1, closed: 1 });
    const after = await write(4);
    run(sink);
    expect(await received(sink, 9)).toEqual([...before, ...after]);
  });

  it('is served by one process at a time, and by the next one at once when that ends', async () => {
    const sink = new MemorySink();
    const first = run(sink);
    await until(
      () => first.figures.isRunning,
      (isRunning) => isRunning,
    );
    const second = run(sink);
    const before = await write(10);
    await received(sink, 10);
    expect(second.figures.isRunning).toBe(false);
    await first.close();
    const after = await write(10);
    expect(await received(sink, 20)).toEqual([...before, ...after]);
    expect(second.figures.delivered).toBe(10);
  });

  it('is taken over when the lease of a process has expired, which can store no position any more', async () => {
    const sink = new MemorySink();
    const dead = createLease({ bulk: database.bulk, name: sink.name, owner: 'dead', now: () => NOW });
    expect(await dead.acquire()).toEqual({ position: null });
    const ids = await write(4);
    expect(await dead.renew((await head()) - 2n)).toBe(true);

    const early = run(sink, { now: () => NOW + LEASE_MS - 1 });
    const late = run(sink, { now: () => NOW + LEASE_MS + 1 });
    // Without a gap, from what the dead process had stored.
    expect(await received(sink, 2)).toEqual(ids.slice(2));
    expect([early.figures.isRunning, late.figures.isRunning]).toEqual([false, true]);
    expect(await dead.renew(0n)).toBe(false);
    await dead.release(0n);
    await late.close();
    const [row] = await database.bulk.read(
      'search',
      Prisma.sql`
      SELECT "position", "owner" FROM "event_sinks"`,
    );
    expect(BigInt(String(row?.[0]))).toBe(await head());
  });

  it('is tried again after failures, with a new session each time, and loses nothing', async () => {
    const sink = new MemorySink();
    let failures = 3;
    sink.before = () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the destination is away');
    };
    const ids = await write(700);
    const runner = run(sink);
    expect(await received(sink, 700)).toEqual(ids);
    expect(sink).toMatchObject({ opened: 4, closed: 3 });
    expect(runner.figures.failures).toBe(3);
    expect(runner.logged.map(({ message }) => message)).toContain(
      'events could not be delivered to a sink now',
    );
  });

  it('that is stuck does not delay the storing of events, and reports how far it is behind', async () => {
    const sink = new MemorySink();
    let go = () => {};
    const stuck = new Promise<void>((resolve) => {
      go = resolve;
    });
    await write(1);
    const runner = run(sink);
    await received(sink, 1);
    sink.before = () => stuck;
    const more = await write(600);
    // Stored, although the sink has taken nothing.
    expect(sink.ids).toHaveLength(1);
    expect(await store.search.count({})).toBe(601);
    go();
    await received(sink, 601);
    expect(sink.ids.slice(1)).toEqual(more);
    await until(
      () => runner.figures,
      ({ head, position }) => head === position,
    );
  });

  it('says which events were deleted because of their age before it took them', async () => {
    const { sink, first } = await stoppedSink();
    const recent = await writeAfterDeleted(1, 3);
    const next = run(sink);
    expect(await received(sink, 3)).toEqual([...first, ...recent]);
    expect(next.figures.missed).toBe(3);
    expect(next.logged).toContainEqual({
      message: 'events were deleted before a sink took them',
      facts: expect.objectContaining({ sink: 'memory', missed: 3 }),
    });
  });

  it('misses none of the positions that were skipped after a restore', async () => {
    const { sink, first } = await stoppedSink();
    await store.skipPositions(1_000_000, 0);
    const recent = await writeAfterDeleted(1, 3);
    const next = run(sink);
    expect(await received(sink, 3)).toEqual([...first, ...recent]);
    expect(next.figures.missed).toBe(3);
  });

  it('misses nothing of what was deleted before its first start', async () => {
    const recent = await writeAfterDeleted(2, 3);
    const sink = new MemorySink();
    const runner = run(sink);
    expect(await received(sink, 2)).toEqual(recent);
    expect(runner.figures.missed).toBe(0);
  });

  it('goes on from the end of a log that was restored to an earlier state', async () => {
    const sink = new MemorySink();
    const before = await write(5);
    const runner = run(sink);
    await received(sink, 5);
    await runner.close();
    const end = (await head()) - 3n;
    await executeSql(
      url,
      `BEGIN; DELETE FROM "events" WHERE "position" > ${end}; UPDATE "event_log" SET "position" = ${end}; COMMIT`,
    );
    const next = run(sink);
    await until(
      () => sink.rewinds,
      (rewinds) => rewinds.length > 0,
    );
    const after = await write(2);
    expect(await received(sink, 7)).toEqual([...before, ...after]);
    expect(sink.rewinds).toEqual([end]);
    expect(next.logged.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('the database was restored'),
    );
  });

  it('that waits is cut off, too, if the service stops while the lease is acquired', async () => {
    const sink = new MemorySink();
    const opens: AbortSignal[] = [];
    sink.open = async (_stored, _first, signal) => {
      opens.push(signal);
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      throw new Error('it was cut off before');
    };
    let closed: Promise<void> | undefined;
    const runner: TestRunner = testRunner({
      sink,
      database,
      tail: store.tail,
      // The lease reads the clock while it is acquired.
      now: () => {
        closed ??= runner.close();
        return NOW;
      },
      times: { closeMs: 1 },
    });
    runner.start();
    await runner.close();
    await closed;
    expect(opens.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('that hangs while the service stops is cut off', async () => {
    const sink = new MemorySink();
    let hangs = false;
    sink.before = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cut off')));
        hangs = true;
      });
    await write(1);
    const runner = run(sink, { times: { closeMs: 100 } });
    await until(
      () => hangs,
      (isHanging) => isHanging,
    );
    await runner.close();
    expect(sink.ids).toEqual([]);
    expect(sink).toMatchObject({ finished: 0, closed: 1 });
  });
});
