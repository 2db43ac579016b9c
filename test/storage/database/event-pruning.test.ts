import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createEventPruner } from '../../../src/observe/events/event-pruner.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { createSqlRetention, PRUNING_BATCH } from '../../../src/observe/events/sql/event-pruning.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import { rebuildRollups } from '../../../src/observe/events/sql/rollup-rebuild.js';
import { createStatisticsStore } from '../../../src/observe/events/sql/statistics-store.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { pruningLimits } from '../../../src/observe/events/store/event-retention.js';
import { ROLLUP_LEVELS } from '../../../src/observe/events/store/rollup-levels.js';
import { type TimeRange, timeWindow } from '../../../src/observe/events/store/time-range.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { allEvents, storedEvent } from '../../observe/events/events.support.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';

const NOW = 1_760_000_000_123;
const DAY = 86_400_000;
const RETENTION_DAYS = 30;
const CUTOFF_US = BigInt(NOW - RETENTION_DAYS * DAY) * 1_000n;
const NEVER_PRUNED = -1_000_000_000_000_000_000n;

const log = { info: () => {} };
const failures = { failed: (_kind: string, message: string) => expect(message).toBe('no failure') };

function eventAt(us: bigint, id: string): ControlEvent {
  return storedEvent({ control_execution_id: id, timestamp: { us, text: 'any' }, execution_duration_ms: 2 });
}

describeOnEachDatabase('pruning', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  const others: Database[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
    await executeSql(
      url,
      `BEGIN; DELETE FROM "events"; DELETE FROM "event_rollups";
       UPDATE "event_log" SET "events" = 0, "pruned_before_us" = ${NEVER_PRUNED}, "pruned_position" = 0,
         "pruning_at_ms" = 0; COMMIT`,
    );
  });
  afterAll(() => database.close());

  async function replica(): Promise<Database> {
    const other = await openDatabase({ url, migrate: false });
    others.push(other);
    return other;
  }
  const write = (events: readonly ControlEvent[], on = database, nowMs = NOW) =>
    createEventWriter({ database: on, now: () => nowMs })(events.map(encodeEvent));
  const pruner = (more: { on?: Database; nowMs?: number; retentionDays?: number } = {}) => {
    const { on = database, nowMs = NOW, retentionDays = RETENTION_DAYS } = more;
    const meter = createObservabilityMeter();
    const created = createEventPruner({
      retention: createSqlRetention(on, () => nowMs),
      retentionDays,
      log,
      failures,
      meter,
      now: () => nowMs,
    });
    return { ...created, meter };
  };
  const executions = async (range: TimeRange = '365d', nowMs = NOW) => {
    const found = await createStatisticsStore(database).count({
      agentName: null,
      controlId: null,
      window: timeWindow(range, nowMs),
      byBucket: false,
      agents: 10,
      controls: 10,
      topControls: 0,
    });
    return found.agents.reduce((sum, one) => sum + Number(one.executions), 0);
  };
  const ids = async () => (await allEvents(database)).map((one) => one.control_execution_id).sort();
  const logRow = async () => {
    const [row] = await database.bulk.read(
      'search',
      Prisma.sql`SELECT "events", "pruned_before_us", "pruned_position", "pruning_at_ms" FROM "event_log"`,
    );
    const [events, prunedBeforeUs, prunedPosition, pruningAtMs] = (row ?? []).map((one) =>
      BigInt(String(one)),
    );
    return { events, prunedBeforeUs, prunedPosition, pruningAtMs };
  };
  const positionOf = async (id: string) => {
    const [row] = await database.bulk.read(
      'search',
      Prisma.sql`SELECT "position" FROM "events" WHERE "control_execution_id" = ${id}`,
    );
    return BigInt(String(row?.[0]));
  };
  const rebuild = (on = database, nowMs = NOW) => rebuildRollups({ database: on, now: () => nowMs });

  it('deletes what is older than the retention, and not what is exactly as old', async () => {
    await write([
      eventAt(CUTOFF_US, 'at'),
      eventAt(CUTOFF_US - 1n, 'before'),
      eventAt(CUTOFF_US + 1n, 'after'),
      eventAt(-(10n ** 15n), 'long before'),
      eventAt(BigInt(NOW) * 1_000n, 'new'),
    ]);
    const highest = await positionOf('long before');
    const limits = pruningLimits(NOW, RETENTION_DAYS);
    const wouldDelete = await createSqlRetention(database, () => NOW).count(limits);
    expect(wouldDelete).toMatchObject({ events: 2 });
    expect(await ids()).toHaveLength(5);
    expect(await logRow()).toMatchObject({ events: 5n, prunedBeforeUs: NEVER_PRUNED, prunedPosition: 0n });

    const { meter, prune } = pruner();
    expect(await prune()).toEqual(wouldDelete);
    expect(await ids()).toEqual(['after', 'at', 'new']);
    expect(await logRow()).toMatchObject({ events: 3n, prunedBeforeUs: CUTOFF_US, prunedPosition: highest });
    expect(meter.pruned).toMatchObject({ events: 2, runs: 1 });
    expect(meter.lastPruningMs).toBe(NOW);
    expect(await createSqlRetention(database, () => NOW).count(limits)).toEqual({
      events: 0,
      rollups: 0,
    });
    expect(await prune()).toEqual({ events: 0, rollups: 0 });
  });

  it('leaves statistics as they are, also when they are rebuilt', async () => {
    const old = Array.from({ length: 50 }, (_, index) =>
      eventAt(CUTOFF_US - BigInt(index) * 3_600_000_000n, `old-${index}`),
    );
    await write([...old, eventAt(BigInt(NOW) * 1_000n, 'new')]);
    expect(await executions()).toBe(51);
    await pruner().prune();
    expect(await ids()).toHaveLength(2);
    expect(await rebuild()).toMatchObject({ corrected: 0 });
    expect(await executions()).toBe(51);
  });

  it('counts what comes too late to stay', async () => {
    await write([eventAt(CUTOFF_US - 5_000_000n, 'old')]);
    await pruner().prune();
    const { prunedPosition } = await logRow();
    await write([eventAt(CUTOFF_US - 9_000_000n, 'late')]);
    expect(await ids()).toEqual(['late']);
    expect(await executions()).toBe(2);
    await pruner().prune();
    expect(await ids()).toEqual([]);
    expect(await rebuild()).toMatchObject({ corrected: 0 });
    expect(await executions()).toBe(2);
    expect((await logRow()).prunedPosition).toBeGreaterThan(prunedPosition ?? 0n);
  });

  it('never reports that less was pruned than before', async () => {
    await write([eventAt(CUTOFF_US - 1n, 'old'), eventAt(CUTOFF_US - BigInt(400 * DAY) * 1_000n, 'older')]);
    await pruner().prune();
    const before = await logRow();
    await write([eventAt(CUTOFF_US - BigInt(400 * DAY) * 1_000n, 'older')]);
    await executeSql(url, `UPDATE "events" SET "position" = 1 WHERE "control_execution_id" = 'older'`);
    await pruner({ retentionDays: 200 }).prune();
    expect(await ids()).toEqual([]);
    expect(await logRow()).toMatchObject({
      prunedBeforeUs: before.prunedBeforeUs,
      prunedPosition: before.prunedPosition,
    });
  });

  it('keeps events forever when configured so', async () => {
    await write([eventAt(-(10n ** 15n), 'old')]);
    expect(await pruner({ retentionDays: 0 }).prune()).toMatchObject({ events: 0 });
    expect(await ids()).toEqual(['old']);
  });

  it('deletes sums that no statistics read any more, level by level', async () => {
    await write([eventAt(BigInt(NOW) * 1_000n, 'one')]);
    const levels = async () => {
      const rows = await database.bulk.read(
        'search',
        Prisma.sql`SELECT DISTINCT "unit_s" FROM "event_rollups" ORDER BY 1`,
      );
      return rows.map(([unitS]) => Number(unitS));
    };
    expect(await levels()).toEqual([1, 60, 3_600, 86_400]);
    for (const [index, { unitS, keptS }] of ROLLUP_LEVELS.slice(0, 3).entries()) {
      // Just before its time, and well after it.
      await pruner({ retentionDays: 0, nowMs: NOW + keptS * 1000 }).prune();
      expect(await levels()).toContain(unitS);
      const later = NOW + (keptS + 2 * 3_600 + unitS) * 1000;
      await pruner({ retentionDays: 0, nowMs: later }).prune();
      expect(await levels()).not.toContain(unitS);
      if (index < 2) expect(await executions('365d', later)).toBe(1);
      expect(await rebuild(database, later)).toMatchObject({ corrected: 0 });
    }
  });

  it('goes in batches, each with the lock that writers of events take first', async () => {
    const count = 2 * PRUNING_BATCH + 500;
    for (let at = 0; at < count; at += 500) {
      await write(
        Array.from({ length: 500 }, (_, index) =>
          eventAt(CUTOFF_US - BigInt(at + index) - 1n, `${at + index}`),
        ),
      );
    }
    const deleted: number[] = [];
    const first: string[] = [];
    const watched = {
      kind: database.kind,
      bulk: {
        read: database.bulk.read,
        transaction: <T>(work: Parameters<typeof database.bulk.transaction<T>>[0]) =>
          database.bulk.transaction<T>((tx) => {
            let statements = 0;
            return work({
              async run(...all) {
                if (statements === 0) first.push(all[0]?.sql.trim().slice(0, 18) ?? '');
                statements += all.length;
                const results = await tx.run(...all);
                if (all[0]?.sql.includes('DELETE FROM "events"')) deleted.push(results[0]?.rows.length ?? 0);
                return results;
              },
            });
          }),
      },
    };
    const meter = createObservabilityMeter();
    const { prune } = createEventPruner({
      retention: createSqlRetention(watched, () => NOW),
      retentionDays: RETENTION_DAYS,
      log,
      failures,
      meter,
      now: () => NOW,
    });
    expect(await prune()).toMatchObject({ events: count });
    expect(deleted).toEqual([PRUNING_BATCH, PRUNING_BATCH, 500, 0]);
    expect(new Set(first)).toEqual(new Set(['UPDATE "event_log"']));
    expect(meter.pruned.batches).toBeGreaterThanOrEqual(3);
  });

  it('keeps every count right while replicas store events and prune at the same time', async () => {
    const replicas = [database, await replica(), await replica()];
    const each = 1_200;
    const sent = (writer: number) =>
      Array.from({ length: each }, (_, index) => {
        // Half of them are too old when they come, some come twice.
        const ageMs = index % 2 === 0 ? RETENTION_DAYS * DAY + 1 + index * 60_000 : index * 60_000;
        return eventAt(BigInt(NOW - ageMs) * 1_000n, `${writer % 2}-${index}`);
      });
    let writing = true;
    const pruned = replicas.slice(1).map(async (on) => {
      let events = 0;
      while (writing) events += (await pruner({ on }).prune()).events;
      return events;
    });
    const stored = [0, 1].map(async (index) => {
      const events = sent(index);
      for (let at = 0; at < each; at += 60) await write(events.slice(at, at + 60), replicas[index]);
    });
    await Promise.all(stored);
    writing = false;
    const deleted = (await Promise.all(pruned)).reduce((sum, one) => sum + one, 0);
    expect(deleted).toBeGreaterThan(0);
    const rest = await pruner().prune();
    expect(deleted + rest.events).toBe(each);
    expect(await ids()).toHaveLength(each);
    expect((await logRow()).events).toBe(BigInt(each));
    expect(await executions()).toBe(2 * each);
    expect(await rebuild()).toMatchObject({ corrected: 0 });
  });

  it('takes nothing out of the sums when it comes in the middle of a rebuild', async () => {
    const hours = 6;
    const old = Array.from({ length: hours }, (_, index) =>
      eventAt(CUTOFF_US - BigInt(index + 1) * 3_600_000_000n, `old-${index}`),
    );
    await write(old);
    for (let prunedAfter = 1; prunedAfter <= 2 * hours; prunedAfter += 1) {
      let reads = 0;
      const interrupted = {
        kind: database.kind,
        bulk: {
          transaction: database.bulk.transaction,
          async read(...query: Parameters<typeof database.bulk.read>) {
            reads += 1;
            if (reads === prunedAfter) await pruner().prune();
            return database.bulk.read(...query);
          },
        },
      };
      expect(await rebuildRollups({ database: interrupted, now: () => NOW })).toMatchObject({ corrected: 0 });
      expect(await executions()).toBe(hours);
      // Put them back without counting them again.
      await executeSql(
        url,
        `DELETE FROM "event_rollups"; UPDATE "event_log" SET "pruned_before_us" = ${NEVER_PRUNED}`,
      );
      await write(old);
    }
  });

  it('is done by one of several processes', async () => {
    await write([eventAt(CUTOFF_US - 1n, 'old')]);
    const all = [pruner(), pruner({ on: await replica() }), pruner({ on: await replica() })];
    for (const one of all) one.start();
    await until(ids, (found) => found.length === 0);
    for (const one of all) await one.close();
    expect(all.map(({ meter }) => meter.pruned.runs).sort()).toEqual([0, 0, 1]);
    expect(all.map(({ meter }) => meter.pruned.events).sort()).toEqual([0, 0, 1]);
  });

  it.each([
    ['that prunes at this moment', NOW - 1_000, ['old']],
    ['that died an hour ago', NOW - 3_600_000, []],
    ['with a clock far ahead', NOW + 3_600_000, []],
  ])('reads what another process recorded: one %s', async (_name, saidMs, left) => {
    await write([eventAt(CUTOFF_US - 1n, 'old')]);
    await executeSql(url, `UPDATE "event_log" SET "pruning_at_ms" = ${saidMs}`);
    const { start, close, meter } = pruner();
    start();
    await until(
      async () => meter.oldestEventMs,
      (oldest) => oldest !== null,
    );
    if (left.length === 0) await until(ids, (found) => found.length === 0);
    await close();
    expect(await ids()).toEqual(left);
  });

  it('ends with its batch when it is closed', async () => {
    await write(
      Array.from({ length: 2 * PRUNING_BATCH }, (_, index) =>
        eventAt(CUTOFF_US - BigInt(index) - 1n, `${index}`),
      ),
    );
    const { prune, close } = pruner();
    const pruning = prune();
    await close();
    const { events } = await pruning;
    expect(events).toBeLessThanOrEqual(PRUNING_BATCH);
    expect((await logRow()).events).toBe(BigInt(2 * PRUNING_BATCH - events));
    expect(await ids()).toHaveLength(2 * PRUNING_BATCH - events);
  });

  it('warns when the database prevents it', async () => {
    const warned: string[] = [];
    const failing = createEventPruner({
      retention: createSqlRetention(
        {
          kind: database.kind,
          bulk: {
            read: () => Promise.reject(new Error('away')),
            transaction: database.bulk.transaction,
          },
        },
        () => NOW,
      ),
      retentionDays: 1,
      log,
      failures: { failed: (_kind, message) => warned.push(message) },
      now: () => NOW,
    });
    failing.start();
    await until(
      async () => warned,
      (all) => all.length === 1,
    );
    await failing.close();
    expect(warned).toEqual(['old events could not be pruned now']);
  });
});
