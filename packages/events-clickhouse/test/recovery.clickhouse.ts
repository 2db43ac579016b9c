import { afterAll, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { readConfig } from '../../../src/contract/config/config.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import type { EventStore } from '../../../src/observe/events/store/event-store.js';
import { utcTimeOfMs } from '../../../src/observe/events/store/event-time.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import type { BulkDatabase } from '../../../src/storage/database/bulk.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { storedEvent } from '../../../test/observe/events/events.support.js';
import { eventStoreOf } from '../../../test/support/clickhouse.js';
import { describeOnSqlite } from '../../../test/support/databases.js';
import { type ClickHouseConnection, createClickHouseConnection } from '../src/clickhouse-connection.js';
import { createClickHouseEventStore } from '../src/clickhouse-event-store.js';
import { encodeEvent } from '../src/clickhouse-row.js';
import { createEventWriter } from '../src/event-writer.js';
import { createLeases } from '../src/lease.js';
import { createWriteTurns } from '../src/write-turns.js';

const NOW = 1_760_000_000_123;
const now = () => NOW;

/** Kills a process at its nth statement: it or everything from the next one on has no effect. */
function mortal(steps: number, isLastDone: boolean) {
  let left = steps;
  const dead = () => unavailable('This process is dead.');
  async function step<T>(work: () => Promise<T>): Promise<T> {
    left -= 1;
    if (left > 0) return work();
    if (left === 0 && isLastDone) await work();
    throw dead();
  }
  return {
    get isAlive() {
      return left > 0;
    },
    connection: (real: ClickHouseConnection): ClickHouseConnection => ({
      ...real,
      read: (lane, query) => step(() => real.read(lane, query)),
      insert: (insertion, left) => step(() => real.insert(insertion, left)),
      command: (text) => step(() => real.command(text)),
    }),
    bulk: (real: Database['bulk']): Pick<BulkDatabase, 'read' | 'transaction'> => ({
      read: real.read,
      transaction: (work) => step(() => real.transaction(work)),
    }),
  };
}

describeOnSqlite('a batch whose writer dies', (freshUrl) => {
  let url: string;
  let database: Database;
  let connection: ClickHouseConnection;
  let store: EventStore;
  beforeAll(async () => {
    url = await freshUrl();
    database = await openDatabase({ url });
    const location = readConfig({ DATABASE_URL: url, ...eventStoreOf(url) }).observability.store;
    if (location === null) throw new Error('TEST_CLICKHOUSE_URL is not set');
    connection = createClickHouseConnection({ location });
    store = createClickHouseEventStore({ location, database, now });
  });
  afterAll(async () => {
    await store.close();
    await connection.close();
    await database.close();
  });

  /** Two months and an hour, so that a batch has several partitions. */
  const event = (run: string, index: number, more: Partial<ControlEvent> = {}) =>
    storedEvent({
      control_execution_id: `${run}-${index}`,
      timestamp: utcTimeOfMs(NOW - (index % 3) * 30 * 86_400_000 - index * 1_000),
      confidence: index / 10,
      execution_duration_ms: index,
      ...more,
    });

  async function dieAfter(steps: number, isLastDone: boolean, events: readonly ControlEvent[]) {
    const life = mortal(steps, isLastDone);
    const leases = createLeases({ kind: database.kind, bulk: life.bulk(database.bulk) });
    const dying = life.connection(connection);
    const turns = createWriteTurns({ connection: dying, leases, now });
    const write = createEventWriter({ connection: dying, turns, now });
    const isAcknowledged = await write(events.map(encodeEvent)).then(
      () => true,
      () => false,
    );
    // The lease of a dead process expires some time later.
    await database.bulk.transaction((tx) =>
      tx.run(Prisma.sql`UPDATE "event_store_lease" SET "expires_at_ms" = 0`),
    );
    return { isAcknowledged, isAlive: life.isAlive };
  }

  async function storedIds(): Promise<string[]> {
    const found: string[] = [];
    for await (const part of store.search.walk({}))
      found.push(...part.map(({ control_execution_id: id }) => id));
    return found;
  }

  async function tailIds(): Promise<string[]> {
    const found: string[] = [];
    for (let position = 0n, end = false; !end; ) {
      const part = await store.tail.after('search', position, {});
      found.push(...part.events.map((one) => one.event.control_execution_id));
      end = part.upTo === part.head;
      position = part.upTo;
    }
    return found;
  }

  it('is completed by the next one as far as it was stored, and counted once', async () => {
    const acknowledged = new Set<string>();
    const sent = new Set<string>();
    let steps = 0;
    let deaths = 0;
    for (let alive = false; !alive; ) {
      steps += 1;
      for (const isLastDone of [false, true]) {
        const run = `${steps}${isLastDone}`;
        const known = [0, 1, 2].map((index) => event(run, index));
        await store.write(known.map(store.encode));
        // Some are new, and some are merged with those that are known.
        const batch = [0, 1, 2, 3, 4, 5].map((index) => event(run, index, { origin: 'service' }));
        const died = await dieAfter(steps, isLastDone, batch);
        for (const one of batch) sent.add(one.control_execution_id);
        for (const one of died.isAcknowledged ? batch : known) acknowledged.add(one.control_execution_id);
        alive = died.isAlive;
        if (!died.isAlive) deaths += 1;
        // Its events are sent again, half of the time to a process that has to complete the batch first.
        if (steps % 2 === 0) {
          await store.write(batch.map(store.encode));
          for (const one of batch) acknowledged.add(one.control_execution_id);
        }
      }
    }
    await store.write([store.encode(event('last', 0))]);
    acknowledged.add('last-0');
    sent.add('last-0');
    // Taking the lease, reads, four inserts, and its end; each once before and once after its effect.
    expect(deaths).toBeGreaterThan(16);
    const stored = await storedIds();
    expect(stored).toHaveLength(new Set(stored).size);
    expect([...acknowledged].filter((id) => !stored.includes(id))).toEqual([]);
    expect(stored.filter((id) => !sent.has(id))).toEqual([]);
    expect((await tailIds()).toSorted()).toEqual(stored.toSorted());
    expect(await store.search.count({})).toBe(stored.length);
    const { agents } = await store.statistics.count({
      agentName: null,
      controlId: null,
      window: timeWindow('365d', NOW),
      byBucket: false,
      agents: 1,
      controls: 1,
      topControls: 0,
    });
    expect(agents[0]?.executions).toBe(stored.length);
    expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
  });

  it('is waited for while the server may still be at work on it', async () => {
    const leases = createLeases(database);
    const lease = await leases.take();
    const other = createLeases(database).take();
    await lease.release('something');
    const next = await other;
    expect(next.unfinished).toBe(lease.batch);
    await next.begin(next.state.position);
    await expect(lease.complete(0n)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await next.complete(next.state.position);
    const last = await createLeases(database).take();
    expect(last.unfinished).toBe(0n);
    expect(last.batch).toBeGreaterThan(next.batch);
    await last.release('nothing');
  });
});
