import { expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { openedInTest } from '../../support/opened.js';
import { executeSql } from '../../support/sql.js';

const ADD = Prisma.sql`UPDATE "event_log" SET "events" = "events" + ${1} WHERE "id" = 1`;
const EVENTS = Prisma.sql`SELECT "events" FROM "event_log"`;

describeOnEachDatabase('statements past Prisma', (freshDatabaseUrl, kind) => {
  const databases = openedInTest<Database>((one) => one.close());
  async function open(url?: string) {
    const database = await openDatabase({ url: url ?? (await freshDatabaseUrl()) });
    databases.push(database);
    return database;
  }
  const events = async (database: Database) => Number((await database.bulk.read('search', EVENTS))[0]?.[0]);

  it('are committed together, leave the revision alone, and give their results', async () => {
    const database = await open();
    const results = await database.bulk.transaction(async (tx) => [
      ...(await tx.run(ADD, ADD)),
      ...(await tx.run(EVENTS)),
    ]);
    expect(results.map(({ changes }) => changes).slice(0, 2)).toEqual([1, 1]);
    expect(Number(results[2]?.rows[0]?.[0])).toBe(2);
    expect([await events(database), await database.revision()]).toEqual([2, 0]);
  });

  it('are guarded by a query: without a row of it, nothing is written', async () => {
    const database = await open();
    const own = database.openBulk();
    const events = async () => Number((await own.read('search', EVENTS))[0]?.[0]);
    const guard = (count: number) => Prisma.sql`SELECT "events" FROM "event_log" WHERE "events" = ${count}`;
    const results = await own.guarded(guard(0), [ADD, EVENTS]);
    expect(results?.map(({ rows }) => rows.map((row) => row.map(Number)))).toEqual([[[0]], [], [[1]]]);
    expect([await own.guarded(guard(0), [ADD]), await events()]).toEqual([null, 1]);
    expect([await own.guarded(guard(7), []), (await own.guarded(guard(1), []))?.length]).toEqual([null, 1]);
    const failing = own.guarded(guard(1), [ADD, Prisma.sql`SELECT * FROM "missing"`]);
    await expect(failing).rejects.toMatchObject({ name: 'ServiceError' });
    expect(await events()).toBe(1);
    await database.close();
    await expect(own.guarded(guard(1), [ADD])).rejects.toMatchObject({ name: 'ServiceError' });
    await own.close();
  });

  it('carry every kind of value', async () => {
    const database = await open();
    const [row] = await database.bulk.read(
      'statistics',
      Prisma.sql`SELECT CAST(${2n ** 62n} AS BIGINT), CAST(${0.1 + 0.2} AS DOUBLE PRECISION), CAST(${'ö\u{1f600}'} AS TEXT),
        CAST(${null} AS TEXT), CAST(${-7} AS INTEGER)`,
    );
    expect([BigInt(String(row?.[0])), row?.[1], row?.[2], row?.[3], Number(row?.[4])]).toEqual([
      2n ** 62n,
      0.1 + 0.2,
      'ö\u{1f600}',
      null,
      -7,
    ]);
  });

  it('see one moment when they are read at once, and keep no writer waiting', async () => {
    const database = await open();
    const counts = await database.readAtOnce(async (read) => {
      const count = async () => Number((await read(EVENTS))[0]?.[0]);
      const before = await count();
      await database.bulk.transaction((tx) => tx.run(ADD));
      return [before, await count(), await count()];
    });
    expect(counts).toEqual([0, 0, 0]);
    expect(await database.readAtOnce(async (read) => Number((await read(EVENTS))[0]?.[0]))).toBe(1);
  });

  it('are read at once by one caller after the other, also after one that failed', async () => {
    const database = await open();
    const failed = database.readAtOnce((read) => read(Prisma.sql`SELECT * FROM "missing"`));
    const thrown = database.readAtOnce(async (read) => {
      await read(EVENTS);
      throw new Error('changed my mind');
    });
    const fine = database.readAtOnce(async (read) => Number((await read(EVENTS))[0]?.[0]));
    await expect(failed).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    await expect(thrown).rejects.toMatchObject({ name: 'ServiceError' });
    expect(await fine).toBe(0);
    await expect(
      database.readAtOnce((read) => read(Prisma.sql`UPDATE "event_log" SET "events" = 7`)),
    ).rejects.toMatchObject({ name: 'ServiceError' });
    expect(await events(database)).toBe(0);
  });

  it('are undone as a whole when the work throws or one of them fails', async () => {
    const database = await open();
    const { bulk } = database;
    const thrown = bulk.transaction(async (tx) => {
      await tx.run(ADD);
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toMatchObject({ name: 'ServiceError' });
    const failed = bulk.transaction((tx) => tx.run(ADD, Prisma.sql`SELECT * FROM "missing"`));
    await expect(failed).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    const caught = bulk.transaction(async (tx) => {
      await tx.run(Prisma.sql`SELECT * FROM "missing"`).catch(() => {});
      await tx.run(ADD);
    });
    await expect(caught).rejects.toMatchObject({ name: 'ServiceError' });
    const hidden = bulk.transaction(async (tx) => {
      await tx.run(ADD);
      await tx.run(Prisma.sql`SELECT * FROM "missing"`).catch(() => {});
    });
    await expect(hidden).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    const together = bulk.transaction((tx) =>
      Promise.allSettled([tx.run(ADD), tx.run(Prisma.sql`SELECT * FROM "missing"`), tx.run(ADD)]),
    );
    await expect(together).rejects.toMatchObject({ name: 'ServiceError' });
    expect(await events(database)).toBe(0);
    await bulk.transaction((tx) => tx.run(ADD));
    expect(await events(database)).toBe(1);
  });

  it('are not seen before their commit', async () => {
    const database = await open();
    await database.bulk.transaction(async (tx) => {
      await tx.run(ADD);
      expect(await events(database)).toBe(0);
    });
    expect(await events(database)).toBe(1);
  });

  it('leave mutations their turn, however many there are', async () => {
    const database = await open();
    let mutated = 0;
    let written = 0;
    const writeOn = async () => {
      while (mutated < 20) {
        await database.bulk.transaction((tx) => tx.run(ADD));
        written += 1;
      }
    };
    const mutateOn = async () => {
      for (; mutated < 20; mutated += 1) await database.mutate(async () => ({ value: null, changed: true }));
    };
    await Promise.all([...Array.from({ length: 8 }, writeOn), mutateOn()]);
    expect(await database.revision()).toBe(20);
    expect(await events(database)).toBe(written);
  });

  it('are refused once the database is closed', async () => {
    const database = await open();
    await database.bulk.transaction((tx) => tx.run(ADD));
    await database.close();
    await expect(database.bulk.transaction((tx) => tx.run(ADD))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    await expect(events(database)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  if (kind === 'sqlite') {
    it('wait for another process that writes', async () => {
      const url = await freshDatabaseUrl();
      const [one, other] = [await open(url), await open(url)];
      let finished = false;
      let began = () => {};
      const holding = new Promise<void>((resolve) => {
        began = resolve;
      });
      const slow = one.bulk.transaction(async (tx) => {
        await tx.run(ADD);
        began();
        await new Promise((resolve) => setTimeout(resolve, 100));
        finished = true;
      });
      await holding;
      await other.bulk.transaction(async (tx) => {
        await tx.run(ADD);
        expect(finished).toBe(true);
      });
      await slow;
      expect(await events(other)).toBe(2);
    });
    return;
  }
  it('have an unknown outcome when the connection breaks during the commit', async () => {
    const url = await freshDatabaseUrl();
    const database = await open(url);
    // The commit waits for a check that ends the connection of its own session.
    await executeSql(
      url,
      `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
       CREATE CONSTRAINT TRIGGER dies AFTER UPDATE ON "event_log" DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION die()`,
    );
    await expect(database.bulk.transaction((tx) => tx.run(ADD))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { hint: expect.stringContaining('not known') },
    });
    await executeSql(url, 'DROP TRIGGER dies ON "event_log"');
    await database.bulk.transaction((tx) => tx.run(ADD));
  });
});
