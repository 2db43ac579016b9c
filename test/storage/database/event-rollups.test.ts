import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import { rebuildRollups } from '../../../src/observe/events/sql/rollup-rebuild.js';
import { createStatisticsStore } from '../../../src/observe/events/sql/statistics-store.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import {
  segmentsOf,
  TIME_RANGES,
  type TimeWindow,
  timeWindow,
} from '../../../src/observe/events/store/time-range.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { allEvents, eventArbitrary, storedEvent } from '../../observe/events/events.support.js';
import { naive, shown } from '../../observe/events/store/naive-statistics.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';

const NOW = 1_760_000_000_123;
describeOnEachDatabase('rollups', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  const others: Database[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
  });
  const clear = () =>
    executeSql(
      url,
      `BEGIN; DELETE FROM "events"; DELETE FROM "event_rollups"; DELETE FROM "event_control_names";
       UPDATE "event_log" SET "events" = 0; COMMIT`,
    );
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
    await clear();
  });
  afterAll(() => database.close());

  const writer = (on: Database, nowMs = NOW) => {
    const write = createEventWriter({ database: on, now: () => nowMs });
    return (events: readonly ControlEvent[]) => write(events.map(encodeEvent));
  };
  const statistics = (
    window: TimeWindow,
    byBucket: boolean,
    agentName: string | null = null,
    controlId: number | null = null,
  ) =>
    createStatisticsStore(database).count({
      agentName,
      controlId,
      window,
      byBucket,
      agents: 100,
      controls: 10_000,
      topControls: 10_000,
    });
  it('come with positions in order when several processes write the same checks at once', async () => {
    const writers = [writer(database)];
    for (let index = 0; index < 3; index += 1) {
      const other = await openDatabase({ url, migrate: false });
      others.push(other);
      writers.push(writer(other));
    }
    const samples = fc.sample(eventArbitrary(NOW, ['client', 'service']), { numRuns: 400, seed: 7 });
    let before = 0n;
    let watching = true;
    const watch = async () => {
      while (watching) {
        // After a position was read, no smaller one appears.
        const [seen] = await database.bulk.read(
          'search',
          Prisma.sql`SELECT COALESCE(MAX("position"), 0), COUNT(*) FROM "events" WHERE "position" <= ${before}`,
        );
        const [all] = await database.bulk.read(
          'search',
          Prisma.sql`SELECT COALESCE(MAX("position"), 0) FROM "events"`,
        );
        const known = counts.get(before) ?? 0;
        expect(Number(seen?.[1])).toBe(known);
        before = BigInt(String(all?.[0]));
        const [count] = await database.bulk.read(
          'search',
          Prisma.sql`SELECT COUNT(*) FROM "events" WHERE "position" <= ${before}`,
        );
        counts.set(before, Number(count?.[0]));
      }
    };
    const counts = new Map<bigint, number>();
    const watched = watch();
    await Promise.all(
      writers.map(async (write, index) => {
        for (let at = 0; at < samples.length; at += 20) {
          const part = samples.slice(at, at + 20);
          await write(index % 2 === 0 ? part : part.toReversed());
        }
      }),
    );
    watching = false;
    await watched;
    const stored = await allEvents(database);
    expect(stored).toHaveLength(new Set(samples.map((one) => one.control_execution_id)).size);
    const window = timeWindow('7d', NOW);
    expect(shown(await statistics(window, true))).toEqual(naive(stored, window, true));
    expect(await rebuildRollups({ database, now: () => NOW })).toMatchObject({ corrected: 0 });
  });

  it('are corrected by a rebuild, also while events are stored', async () => {
    const samples = fc.sample(eventArbitrary(NOW, ['client']), { numRuns: 300, seed: 11 });
    const renamed = samples.map((one, index) => ({ ...one, control_execution_id: `check-${index}` }));
    const write = writer(database);
    await write(renamed.slice(0, 150));
    await executeSql(
      url,
      `UPDATE "event_rollups" SET "executions" = "executions" + 5, "denies" = 0 WHERE "control_id" = 1;
       DELETE FROM "event_rollups" WHERE "control_id" = 2;
       INSERT INTO "event_rollups" SELECT 'made-up-bot', "unit_s", "start_s", 9, 'x', 1,1,1,1,1,1,1,1,1,1,1
         FROM "event_rollups" GROUP BY "unit_s", "start_s"`,
    );
    const rebuild = () => rebuildRollups({ database, now: () => NOW });
    const [result, again] = await Promise.all([
      rebuild(),
      rebuild(),
      (async () => {
        for (let at = 150; at < 300; at += 10) await write(renamed.slice(at, at + 10));
      })(),
    ]);
    expect(result.corrected + again.corrected).toBeGreaterThan(0);
    expect(await rebuild()).toMatchObject({ corrected: 0 });
    const stored = await allEvents(database);
    expect(stored).toHaveLength(300);
    for (const range of TIME_RANGES) {
      const window = timeWindow(range, NOW);
      expect(shown(await statistics(window, true))).toEqual(naive(stored, window, true));
    }
  });

  it('of events that were pruned survive a rebuild', async () => {
    const at = (ageS: number, id: string) =>
      storedEvent({
        control_execution_id: id,
        timestamp: { us: BigInt(NOW - ageS * 1000) * 1_000n, text: 'any' },
      });
    await writer(database)([at(3 * 86_400, 'old'), at(10, 'new')]);
    const cut = BigInt(NOW - 86_400_000) * 1_000n;
    await executeSql(
      url,
      `DELETE FROM "events" WHERE "time_us" < ${cut}; UPDATE "event_log" SET "pruned_before_us" = ${cut}`,
    );
    expect(await rebuildRollups({ database, now: () => NOW })).toMatchObject({ corrected: 0 });
    const { agents } = await statistics(timeWindow('30d', NOW), false);
    expect(agents[0]?.executions).toBe(2);
    await executeSql(url, 'UPDATE "event_log" SET "pruned_before_us" = -1000000000000000000');
  });

  it('are looked up and written with few statements, however many events there are', async () => {
    const sent: number[] = [];
    const counting = {
      kind: database.kind,
      bulk: {
        transaction: <T>(work: Parameters<typeof database.bulk.transaction<T>>[0]) =>
          database.bulk.transaction<T>((tx) =>
            work({
              run(...statements) {
                sent.push(statements.length);
                return tx.run(...statements);
              },
            }),
          ),
      },
    };
    const write = createEventWriter({ database: counting, now: () => NOW });
    const many = Array.from({ length: 1_000 }, (_, index) =>
      encodeEvent(storedEvent({ control_execution_id: `m${index}`, control_id: index })),
    );
    await write(many);
    expect(sent).toEqual([1, 1, 2]);
    sent.splice(0);
    await write(many.map(({ event }) => encodeEvent({ ...event, origin: 'service' })));
    expect(sent).toEqual([1, 1, 1, 3]);
    expect(segmentsOf(timeWindow('365d', NOW), true).length).toBeLessThan(100);
  });
});
