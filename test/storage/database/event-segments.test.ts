import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createEventPruner } from '../../../src/observe/events/event-pruner.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import { IdFilter } from '../../../src/observe/events/sql/id-filter.js';
import { advanceRollups } from '../../../src/observe/events/sql/rollups.js';
import { OPEN_TABLE } from '../../../src/observe/events/sql/segment-tables.js';
import { closedSegments, closeSegment } from '../../../src/observe/events/sql/segments.js';
import { createSqlEventStore } from '../../../src/observe/events/sql/sql-event-store.js';
import { StoredIds } from '../../../src/observe/events/sql/stored-ids.js';
import { type ControlEvent, ORIGINS, shownEvent } from '../../../src/observe/events/store/event.js';
import { mergeEvents } from '../../../src/observe/events/store/event-merge.js';
import { pruningLimits } from '../../../src/observe/events/store/event-retention.js';
import type { EventStore } from '../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { readMigrations } from '../../../src/storage/database/migration-files.js';
import { eventArbitrary, storedEvent } from '../../observe/events/events.support.js';
import { describeOnEachDatabase, runOn } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';

const NOW = Date.now();
const DAY_US = 86_400_000_000n;
const BEFORE = '20261206000000_event_segments';

const failures = {
  failed: (kind: string, _message: string, error: unknown) => expect([kind, error]).toEqual('no failure'),
  told: () => {},
};
const storeOf = (database: Database) => createSqlEventStore({ database, now: () => NOW });
const write = (store: EventStore, events: readonly ControlEvent[]) => store.write(events.map(store.encode));
const close = (database: Database) =>
  database.bulk.transaction((tx) => closeSegment(database.kind, tx, true));
const segmentsOf = ({ bulk }: Database) => closedSegments(bulk);

async function allOf({ search }: EventStore): Promise<ControlEvent[]> {
  const found: ControlEvent[] = [];
  for await (const part of search.walk({})) found.push(...part);
  return found;
}

const byId = (events: readonly ControlEvent[]) =>
  new Map(events.map((one) => [one.control_execution_id, { ...shownEvent(one), origin: one.origin }]));

function merged(events: readonly ControlEvent[]): ControlEvent[] {
  const known = new Map<string, ControlEvent>();
  for (const one of events) {
    const first = known.get(one.control_execution_id);
    known.set(one.control_execution_id, first === undefined ? one : mergeEvents(first, one));
  }
  return [...known.values()];
}

/** All positions in the order of a reader that follows the log. */
async function positionsOf({ tail }: EventStore): Promise<bigint[]> {
  const found: bigint[] = [];
  for (let after = 0n; ; ) {
    const { events, upTo, head } = await tail.after('search', after, {});
    found.push(...events.map(({ position }) => position));
    if (upTo >= head) return found;
    after = upTo;
  }
}

const numbered = (from: number, count: number, ageUs = 0n, more: Partial<ControlEvent> = {}) =>
  Array.from({ length: count }, (_, index) =>
    storedEvent({
      control_execution_id: `id-${from + index}`,
      timestamp: { us: BigInt(NOW) * 1_000n - ageUs - BigInt(index), text: 'any' },
      ...more,
    }),
  );

/** Starts the background work of a store, and ends it when no segment lacks its filter and no old table is left. */
async function finishUpkeep(database: Database, store: EventStore): Promise<void> {
  void store.start?.(failures);
  await until(
    () => segmentsOf(database),
    (all) => all.every(({ hasFilter, isOld }) => hasFilter && !isOld),
  );
  await store.close();
}

describeOnEachDatabase('segments of events', (freshDatabaseUrl, kind) => {
  async function withDatabase(work: (database: Database, url: string) => Promise<void>): Promise<void> {
    const url = await freshDatabaseUrl();
    const database = await openDatabase({ url });
    try {
      await work(database, url);
    } finally {
      await database.close();
    }
  }

  it.each([
    ['is left as it is while processes of that version may run', 3_600_000, 0],
    ['is taken over after that', 0, 1],
  ])('the table of an earlier version %s', async (_, takeoverDelayMs, tables) => {
    await withDatabase(async (database) => {
      await write(storeOf(database), numbered(0, 10));
      const store = createSqlEventStore({ database, now: () => NOW, takeoverDelayMs });
      void store.start?.(failures);
      // Waits for what was begun.
      await store.close();
      expect((await segmentsOf(database)).filter(({ isOld }) => isOld)).toHaveLength(tables);
      expect(await store.search.count({})).toBe(10);
    });
  });

  if (kind === 'postgresql')
    it('are not made by a user who does not own the table of events', async () => {
      await withDatabase(async (owner, url) => {
        const role = `role_${new URL(url).pathname.slice(1)}`;
        await runOn(url, `CREATE ROLE ${role} LOGIN PASSWORD 'limited'`);
        const limited = new URL(url);
        limited.username = role;
        limited.password = 'limited';
        try {
          await runOn(url, `GRANT ALL ON SCHEMA public TO ${role}`);
          await runOn(url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
          await runOn(url, `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
          const database = await openDatabase({ url: String(limited) });
          const store = storeOf(database);
          const told: string[] = [];
          await store.start?.({ ...failures, told: (_level, kind) => told.push(kind) });
          await write(store, numbered(0, 10));
          expect(await store.search.count({})).toBe(10);
          expect(database.storage.state).toBe('OK');
          await store.close();
          await database.close();
          expect([...new Set(told)]).toEqual(['tables of events']);
          expect(await segmentsOf(owner)).toEqual([]);
        } finally {
          await runOn(url, `DROP OWNED BY ${role} CASCADE`);
          await runOn(url, `DROP ROLE ${role}`);
        }
      });
    });

  it('hold the same events and sums wherever one ends, with and without filters', async () => {
    const origins = ORIGINS.filter((origin) => origin !== 'merged');
    const batch = fc.array(eventArbitrary(NOW, origins), { minLength: 1, maxLength: 25, size: 'max' });
    const after = fc.constantFrom('go on', 'close', 'close and filter');
    const steps = fc.array(fc.record({ batch, after }), { minLength: 2, maxLength: 5, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, (all) =>
        withDatabase(async (database) => {
          const store = storeOf(database);
          await close(database);
          for (const step of all) {
            await write(store, step.batch);
            if (step.after !== 'go on') await close(database);
            if (step.after === 'close and filter') await finishUpkeep(database, store);
          }
          const expected = merged(all.flatMap((step) => step.batch));
          const found = await allOf(store);
          expect(byId(found)).toEqual(byId(expected));
          expect(found).toHaveLength(expected.length);
          expect(await store.search.count({})).toBe(expected.length);
          expect(await store.search.count({ has_error: false })).toBe(
            expected.filter((one) => one.error_message === null).length,
          );
          const times = found.map(({ timestamp }) => timestamp.us);
          expect(times).toEqual(times.toSorted((a, b) => Number(b - a)));
          expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
          const positions = await positionsOf(store);
          expect(positions).toHaveLength(expected.length);
          expect(positions).toEqual(positions.toSorted((a, b) => Number(a - b)));
        }),
      ),
      { numRuns: 6 },
    );
  });

  it('have each event once while several processes store, close and filter', async () => {
    const url = await freshDatabaseUrl();
    const first = await openDatabase({ url });
    const databases = [
      first,
      await openDatabase({ url, migrate: false }),
      await openDatabase({ url, migrate: false }),
    ];
    try {
      await close(first);
      const stores = databases.map(storeOf);
      for (const store of stores) void store.start?.(failures);
      await Promise.all(
        stores.map(async (store, which) => {
          for (let at = 0; at < 400; at += 20) {
            // Half of the ids are sent by two processes.
            await write(store, numbered(((which % 2) * 200 + at) * 10, 200));
            const database = databases[which];
            if (at % 100 === 40 && database !== undefined) await close(database);
          }
        }),
      );
      for (const [which, store] of stores.entries()) {
        const database = databases[which];
        await store.close();
        if (database !== undefined) await finishUpkeep(database, storeOf(database));
      }
      const [store] = stores;
      if (store === undefined) throw new Error('there is no store');
      const ids = (await allOf(store)).map((one) => one.control_execution_id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(6_000);
      expect(await store.search.count({})).toBe(6_000);
      expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
      // Closings that coincide make one segment, so their number depends on the turns of the processes.
      expect((await segmentsOf(first)).length).toBeGreaterThan(2);
    } finally {
      for (const database of databases) await database.close();
    }
  });

  it('are searched only for the ids that their filter may have', () =>
    withDatabase(async (database) => {
      const store = storeOf(database);
      await close(database);
      await write(store, numbered(0, 100));
      await close(database);
      const [segment] = await segmentsOf(database);
      const ids = new StoredIds();
      const once = createEventWriter({ database, ids, now: () => NOW });
      await once(numbered(0, 1).map(store.encode));
      expect(await store.search.count({ control_execution_id: 'id-0' })).toBe(1);
      // A filter that has no id shows that it is asked: the same event is then stored once more.
      ids.setFilter(segment?.number ?? 0, new IdFilter());
      await once(numbered(0, 1).map(store.encode));
      expect(await store.search.count({ control_execution_id: 'id-0' })).toBe(2);
    }));

  it('begin later when somebody reads all the time, and storing goes on', () =>
    withDatabase(async (database) => {
      const store = storeOf(database);
      await close(database);
      await write(store, numbered(0, 10));
      await database.readAtOnce(async (read) => {
        await read(Prisma.sql`SELECT COUNT(*) FROM "all_events"`);
        const closing = await close(database).then(
          () => 'closed',
          () => 'not now',
        );
        expect(closing).toBe(database.kind === 'sqlite' ? 'closed' : 'not now');
        await write(store, numbered(5, 10));
        expect(String((await read(Prisma.sql`SELECT COUNT(*) FROM "all_events"`))[0]?.[0])).toBe('10');
      });
      await close(database);
      await write(store, numbered(10, 10));
      expect(await allOf(store)).toHaveLength(20);
    }));

  it('are deleted as a whole when all of their events are old, else event by event', () =>
    withDatabase(async (database) => {
      const store = storeOf(database);
      await close(database);
      const beforeUs = 30n * DAY_US;
      await write(store, numbered(0, 50, beforeUs + DAY_US));
      await close(database);
      // Within a day the whole of it will be old.
      await write(store, [
        ...numbered(50, 50, beforeUs + 1_000n),
        ...numbered(100, 50, beforeUs - DAY_US / 2n),
      ]);
      await close(database);
      await write(store, [...numbered(150, 50, beforeUs + 1_000n), ...numbered(200, 50)]);
      await close(database);
      await write(store, [...numbered(250, 50, beforeUs + 1_000n), ...numbered(300, 50)]);
      expect(await segmentsOf(database)).toHaveLength(3);
      const limits = pruningLimits(NOW, 30);
      expect(await store.retention.count(limits)).toMatchObject({ events: 150 });
      const pruner = createEventPruner({
        retention: store.retention,
        retentionDays: 30,
        log: { info: () => {} },
        failures,
        now: () => NOW,
      });
      expect(await pruner.prune()).toMatchObject({ events: 150 });
      expect(await store.retention.count(limits)).toMatchObject({ events: 0 });
      const left = (await allOf(store)).map((one) => Number(one.control_execution_id.slice(3)));
      const expected = Array.from({ length: 350 }, (_, id) => id).filter(
        (id) => id >= 50 && !(id >= 150 && id < 200) && !(id >= 250 && id < 300),
      );
      expect(left.sort((a, b) => a - b)).toEqual(expected);
      expect(await store.search.count({})).toBe(200);
      expect(await segmentsOf(database)).toHaveLength(2);
      expect((await store.tail.state()).prunedPosition).toBeGreaterThan(0n);
      expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
      // Their ids are unknown again.
      await write(store, numbered(0, 1));
      expect(await store.search.count({ control_execution_id: 'id-0' })).toBe(1);
    }));

  it('take over the events of an older version while events are stored, merged and deleted', async () => {
    const url = await freshDatabaseUrl();
    const location = parseDatabaseUrl(url);
    await migrate(
      location,
      readMigrations(location.kind).filter(({ name }) => name < BEFORE),
    );
    const old = 1_700;
    await executeSql(url, oldEvents(location.kind, old));
    const database = await openDatabase({ url });
    onTestFinished(() => database.close());
    const store = storeOf(database);
    await database.bulk.transaction((tx) =>
      tx.run(advanceRollups(OPEN_TABLE, Prisma.sql`1 = 1`, 1, Math.floor(NOW / 1000))),
    );
    expect(await store.search.count({})).toBe(old);
    const client = (id: number) =>
      numbered(id, 1, 0n, { origin: 'client', execution_duration_ms: 4, metadata: { from: 'client' } });
    await write(store, [...client(10), ...client(5_000)]);
    void store.start?.(failures);
    for (let id = 0; id < 40; id += 1) await write(store, [...client(id * 40 + 3), ...client(5_001 + id)]);
    await until(
      () => segmentsOf(database),
      (all) => all.length > 0 && all.every(({ hasFilter, isOld }) => hasFilter && !isOld),
    );
    for (let id = 0; id < 40; id += 1) await write(store, client(id * 40 + 7));
    const found = await allOf(store);
    expect(found).toHaveLength(old + 41);
    const mergedIds = new Set([
      10,
      ...Array.from({ length: 40 }, (_, id) => [id * 40 + 3, id * 40 + 7]).flat(),
    ]);
    for (const one of found) {
      const id = Number(one.control_execution_id.slice(3));
      const isMerged = mergedIds.has(id) && id < old;
      expect([id, one.origin]).toEqual([id, isMerged ? 'merged' : id < old ? 'service' : 'client']);
      expect(one.execution_duration_ms).toBe(isMerged || id >= old ? 4 : null);
    }
    expect(await store.search.count({})).toBe(old + 41);
    expect(await store.search.count({ trace_id: 'trace-a' })).toBe(old);
    expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
    expect((await positionsOf(store)).length).toBe(old + 41);
    await store.close();
  });
});

/** Events of the service, ids id-0 …, as the version before segments stored them, without their sums. */
function oldEvents(kind: 'sqlite' | 'postgresql', count: number): string {
  const series =
    kind === 'sqlite'
      ? `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`
      : `WITH n(i) AS (SELECT generate_series(0, ${count - 1}))`;
  // 48 bits of the SHA-256 of trace-a.
  return `
    INSERT INTO "events" ("position", "control_execution_id", "time_us", "time_text", "trace_key", "trace_id",
      "span_key", "span_id", "agent_name", "control_id", "control_name", "facets", "origin", "confidence", "metadata")
    ${series} SELECT i + 1, 'id-' || i, ${NOW}000 - CAST(i AS BIGINT) * 1000, 'as sent', 234975129631505, 'trace-a',
      NULL, 'span-a', 'agent-of-tests', 1, 'control', 1, 1, 0.5, '{}' FROM n;
    UPDATE "event_log" SET "position" = ${count}, "events" = ${count}`;
}
