import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type PostgresServer, startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { createSqlMemoryStore } from '../../../src/decide/memory/sql/sql-memory-store.js';
import type { MemoryStore } from '../../../src/decide/memory/store/memory-store.js';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createTestDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';
import { countOf, engine, key, limited } from './engine.support.js';
import { Follower, HOUR_US } from './follower.js';

const adding = (cell: string, entry: string, checkpoint?: string) => ({
  cells: [cell],
  add: () => [{ cell: 0, entry, ...(checkpoint === undefined ? {} : { checkpoint }) }],
});

describe('Memory in a PostgreSQL server of its own', () => {
  let server: PostgresServer;
  let database: Database;
  let store: MemoryStore;

  beforeAll(async () => {
    server = await startPostgresServer({ survivesCrash: true });
    database = await openDatabase({ url: server.url });
    store = createSqlMemoryStore({ database });
    await store.open();
  });
  afterAll(async () => {
    await store.close();
    await database.close();
    await server.stop();
  });

  async function follower(): Promise<Follower> {
    const process = new Follower(store);
    await process.look('nothing');
    return process;
  }
  const rowsOf = async (query: Prisma.Sql) => database.bulk.read('search', query);

  it('has every acknowledged entry after the server was killed, also where it does not wait for the disk by default', async () => {
    await rowsOf(Prisma.sql`SELECT set_config('synchronous_commit', 'off', false)`);
    await database.client.$executeRawUnsafe('ALTER SYSTEM SET synchronous_commit = off');
    await database.client.$executeRawUnsafe('ALTER SYSTEM SET wal_writer_delay = 10000');
    await rowsOf(Prisma.sql`SELECT pg_reload_conf()`);
    await store.close();
    store = createSqlMemoryStore({ database });
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const process = await follower();
      await process.look('a');
      for (let index = 0; index < 20; index += 1) {
        const entry = JSON.stringify(`${round}.${index}`);
        await process.commit(adding('a', entry));
        acknowledged.push(entry);
      }
      const { epoch } = process;
      await server.crash();
      await expect(process.exchange([adding('a', '"lost"')])).rejects.toMatchObject({
        name: 'MemoryStoreError',
      });
      await server.resume();
      const after = await follower();
      await after.look('a');
      expect(after.of('a').entries).toEqual(acknowledged);
      // Another start of the server: a process must not rely on what it has cached.
      expect(after.epoch).not.toBe(epoch);
      expect((await process.exchange([adding('a', '"stale"')])).applied).toEqual([false]);
    }
  });

  it('is read anew after a restart of the server, and lost only if it has another epoch itself', async () => {
    const { memory, lines } = engine({ store: createSqlMemoryStore({ database }) });
    const keys = [key('restarted')];
    const allowed = () =>
      until(
        () => memory.run(limited(10, keys)),
        (isAllowed) => isAllowed,
      );
    await allowed();
    await server.crash();
    await server.resume();
    await allowed();
    expect(await countOf(memory, key('restarted'))).toBe(2);
    expect(lines).toContain('info memory restarted');
    expect(lines).not.toContain('error memory lost');
    await database.client.$executeRawUnsafe(`UPDATE "memory_clock" SET "epoch" = 'another'`);
    await allowed();
    expect(lines).toContain('error memory lost');
    await memory.close();
  });

  it('changes rows of cells in place, without new entries in indexes', async () => {
    const updates = async () => {
      const [row] = await rowsOf(
        Prisma.sql`SELECT n_tup_upd::TEXT, n_tup_hot_upd::TEXT FROM pg_stat_user_tables WHERE relname = 'memory_cells'`,
      );
      return (row ?? []).map(Number);
    };
    const [updated = 0, hot = 0] = await updates();
    const own = createSqlMemoryStore({ database });
    const process = new Follower(own);
    await process.look('hot');
    const checkpoint = JSON.stringify(Array.from({ length: 20 }, () => '"1"'));
    for (let index = 0; index < 400; index += 1) {
      await process.commit(adding('hot', '"1"', index % 100 === 99 ? checkpoint : undefined));
    }
    // A connection reports its counts when it ends.
    await own.close();
    await expect.poll(async () => ((await updates())[0] ?? 0) - updated).toBeGreaterThanOrEqual(400);
    const [updatedAfter = 0, hotAfter = 0] = await updates();
    expect((hotAfter - hot) / (updatedAfter - updated)).toBeGreaterThan(0.8);
  });

  it('does not wait for locks of rows with questions', async () => {
    const process = await follower();
    await process.commit(adding('asked', '1'));
    const answered = await database.bulk.transaction(async (tx) => {
      await tx.run(Prisma.sql`SELECT 1 FROM "memory_cells" WHERE "id" = 'asked' FOR UPDATE`);
      await process.look('asked', 'missing');
      return (await process.look('asked', 'missing')).applied;
    });
    expect(answered).toEqual([true]);
  });

  it('tells another epoch when its tables were restored from a dump', async () => {
    const process = await follower();
    await process.commit(adding('dumped', '1'));
    await database.client.$executeRawUnsafe('CREATE TABLE "dump" AS SELECT * FROM "memory_cells"');
    await process.commit(adding('dumped', '2'));
    await database.client.$executeRawUnsafe('TRUNCATE "memory_cells"');
    await database.client.$executeRawUnsafe(`DELETE FROM "memory_entries" WHERE "entry" = '2'`);
    await database.client.$executeRawUnsafe('INSERT INTO "memory_cells" SELECT * FROM "dump"');
    await new Follower(store).look('dumped');
    const other = await follower();
    await other.commit(adding('dumped', '3'));
    // The cell has as many entries as the process knows, and others.
    expect(process.of('dumped').version).toBe(other.of('dumped').version);
    expect((await process.exchange([adding('dumped', '4')])).applied).toEqual([false]);
    expect(process.of('dumped').entries).toEqual(['1', '3']);
  });
});

describe('Memory in a database that cannot be reached', () => {
  it('fails on PostgreSQL, and works again when the server is back', async () => {
    const server = await startPostgresServer();
    const database = await openDatabase({ url: server.url });
    const store = createSqlMemoryStore({ database });
    await store.open();
    const process = new Follower(store);
    await process.look('a');
    await process.commit(adding('a', '1'));
    const refused = { name: 'MemoryStoreError', message: expect.stringContaining('The database') };
    const limits = { nowUs: 0, entriesBeforeUs: 0, agentsFrom: 1, maxBytes: 1, rulesBeforeUs: 0 };
    await server.pause();
    const attempts = [
      process.look('a'),
      store.open(),
      store.setOffset(0, 0),
      store.mostUsed('default', 0, 1),
      store.read('default', 'a'),
      store.ledger('default', 'a'),
      store.repair('default', 'a', 1, '[]'),
      store.sweep(limits),
      store.removeNamespace('default'),
    ];
    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: refused });
    }
    await server.resume();
    await process.commit(adding('a', '2'));
    expect(process.of('a').entries).toEqual(['1', '2']);
    await store.close();
    await database.close();
    await server.stop();
  });

  it.each(['sqlite', 'postgresql'] as const)('was closed: on %s every call fails', async (kind) => {
    const created = await createTestDatabase(kind);
    const database = await openDatabase({ url: created.url });
    const store = createSqlMemoryStore({ database });
    await store.open();
    await database.close();
    await expect(new Follower(store).look('a')).rejects.toMatchObject({ name: 'MemoryStoreError' });
    await expect(store.open()).rejects.toMatchObject({ name: 'MemoryStoreError' });
    await store.close();
    await created.drop();
  });
});

describe('Memory in a SQLite file', () => {
  it('is written beside mutations and events of the same file', async () => {
    const created = await createTestDatabase('sqlite');
    const [one, two] = await Promise.all([
      openDatabase({ url: created.url }),
      openDatabase({ url: created.url }),
    ]);
    const followers = [one, two].map((database) => new Follower(createSqlMemoryStore({ database })));
    for (const { store } of followers) await store.open();
    const adds = followers.map(async (process) => {
      for (let index = 0; index < 40; index += 1) await process.commit(adding('shared', `${index}`));
    });
    const mutations = [one, two].map(async (database) => {
      for (let index = 0; index < 20; index += 1)
        await database.mutate(async () => ({ value: 1, changed: true }));
    });
    const events = Array.from({ length: 20 }, () =>
      one.bulk.transaction((tx) =>
        tx.run(Prisma.sql`UPDATE "event_log" SET "events" = "events" + 1 WHERE "id" = 1`),
      ),
    );
    await Promise.all([...adds, ...mutations, ...events]);
    await followers[0]?.look('shared');
    expect(followers[0]?.of('shared').version).toBe(80);
    expect(await two.revision()).toBe(40);
    for (const { store } of followers) await store.close();
    await Promise.all([one.close(), two.close()]);
    await created.drop();
  });

  it('has the clock of its machine, and another epoch after a restored state was outrun', async () => {
    const created = await createTestDatabase('sqlite');
    const database = await openDatabase({ url: created.url });
    let nowUs = 5 * HOUR_US;
    const store = createSqlMemoryStore({ database, clockUs: () => nowUs });
    await store.open();
    const process = new Follower(store);
    expect((await process.look('a')).clock.storeUs).toBe(5 * HOUR_US);
    nowUs = 4 * HOUR_US;
    expect((await process.look('a')).clock.storeUs).toBe(4 * HOUR_US);
    await process.commit(adding('a', '1'));
    const { epoch } = process;
    await database.outrun(100, originOfService(1));
    expect((await process.exchange([adding('a', '2')])).applied).toEqual([false]);
    expect(process.epoch).not.toBe(epoch);
    expect(process.of('a').entries).toEqual(['1']);
    await store.close();
    await database.close();
    await created.drop();
  });
});
