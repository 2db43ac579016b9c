import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { type Database, type DbClient, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { fewestQueries } from '../../support/fewest-queries.js';
import { scoped } from '../../support/scoped.js';

const agent = (name: string) => ({ name, data: '{}', createdAtMs: 1_700_000_000_000 });
const insert = (tx: DbClient, name: string) => createAgentStore(scoped(tx)).insert(agent(name));
const find = (client: DbClient, name: string) => createAgentStore(scoped(client)).find(name);

describeOnEachDatabase('A mutation', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  /** A second service on the same database. */
  let other: Database;

  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    other = await openDatabase({ url });
  });
  afterAll(async () => {
    await database.close();
    await other.close();
  });

  it('advances the revision and keeps what it wrote', async () => {
    const before = await database.revision();
    const result = await database.mutate(async (tx) => {
      await insert(tx, 'kept');
      return { value: 'done', changed: true };
    });
    expect(result).toEqual({ value: 'done', changed: true, revision: before + 1 });
    expect(await other.revision()).toBe(before + 1);
    expect(await find(other.client, 'kept')).toMatchObject(agent('kept'));
  });

  it('that changed nothing leaves no trace and returns the present revision', async () => {
    const before = await database.revision();
    const result = await database.mutate(async (tx) => {
      await insert(tx, 'undone');
      return { value: 7, changed: false };
    });
    expect(result).toEqual({ value: 7, changed: false, revision: before });
    expect(await database.revision()).toBe(before);
    expect(await find(database.client, 'undone')).toBeNull();
  });

  it('that throws leaves no trace and passes its error on', async () => {
    const before = await database.revision();
    const error = new ServiceError('CONTROL_NOT_FOUND', { detail: 'none' });
    const failing = database.mutate(async (tx) => {
      await insert(tx, 'failed');
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    expect(await database.revision()).toBe(before);
    expect(await find(database.client, 'failed')).toBeNull();
  });

  it('turns a mistake of the work into INTERNAL_ERROR and a refused statement into DATABASE_ERROR', async () => {
    const mistake = database.mutate(async () => {
      throw new TypeError('x is not a function');
    });
    await expect(mistake).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    const twice = database.mutate(async (tx) => {
      await insert(tx, 'twice');
      await insert(tx, 'twice');
      return { value: null, changed: true };
    });
    await expect(twice).rejects.toMatchObject({ name: 'ServiceError', code: 'DATABASE_ERROR' });
    expect(await find(database.client, 'twice')).toBeNull();
  });

  it('is invisible until it ends, and does not block readers', async () => {
    const before = await database.revision();
    await database.mutate(async (tx) => {
      await insert(tx, 'in-progress');
      expect(await find(tx, 'in-progress')).not.toBeNull();
      const readers = Array.from({ length: 20 }, () => find(database.client, 'in-progress'));
      expect(new Set(await Promise.all(readers))).toEqual(new Set([null]));
      expect(await find(other.client, 'in-progress')).toBeNull();
      expect(await database.revision()).toBe(before);
      return { value: null, changed: true };
    });
    expect(await find(other.client, 'in-progress')).not.toBeNull();
  });

  it('runs alone: fifty at once on two services count without a gap', async () => {
    const before = await database.revision();
    let open = 0;
    let attempts = 0;
    const mutate = (index: number) => {
      attempts += 1;
      const name = `concurrent-${attempts}`;
      return (index % 2 === 0 ? database : other).mutate(async (tx) => {
        open += 1;
        try {
          const found = await tx.agent.count();
          await insert(tx, name);
          expect(open).toBe(1);
          return { value: found, changed: true };
        } finally {
          open -= 1;
        }
      });
    };
    /** On a busy machine the last ones may wait for longer than a mutation may. */
    const mutateInTheEnd = async (index: number) => {
      for (;;) {
        try {
          return await mutate(index);
        } catch (error) {
          if ((error as { code?: unknown }).code !== 'SERVICE_UNAVAILABLE') throw error;
        }
      }
    };
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => mutateInTheEnd(index)));
    const revisions = results.map(({ revision }) => revision).sort((a, b) => a - b);
    expect(new Set(revisions).size).toBe(50);
    if (attempts === 50)
      expect(revisions).toEqual(Array.from({ length: 50 }, (_, index) => before + 1 + index));
    // Each saw everything that those before it had written: one agent for each revision.
    expect(new Set(results.map(({ value, revision }) => revision - value)).size).toBe(1);
  });

  it('keeps the order of its calls within one service', async () => {
    const order: number[] = [];
    const mutate = (index: number) =>
      database.mutate(async () => {
        order.push(index);
        return { value: index, changed: index % 3 === 0 };
      });
    await Promise.all(Array.from({ length: 20 }, (_, index) => mutate(index)));
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it('works after one that failed in the middle of a statement', async () => {
    const broken = database.mutate(async (tx) => {
      await tx.$executeRawUnsafe('UPDATE no_such_table SET x = 1');
      return { value: null, changed: true };
    });
    await expect(broken).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    const next = await database.mutate(async () => ({ value: 'fine', changed: true }));
    expect(next.value).toBe('fine');
  });

  it('does not repeat the data of a failed statement in its error', async () => {
    const failing = database.mutate(async (tx) => {
      const secret = { ...agent('secretive'), data: '"hunter2"' };
      await createAgentStore(scoped(tx)).insert(secret);
      await createAgentStore(scoped(tx)).insert(secret);
      return { value: null, changed: true };
    });
    const error = await failing.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ServiceError);
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2');
  });

  it('fails as a whole once a statement has failed, even when the work continues', async () => {
    const before = await database.revision();
    const stubborn = database.mutate(async (tx) => {
      await insert(tx, 'stubborn');
      await insert(tx, 'stubborn').catch(() => undefined);
      return { value: null, changed: true };
    });
    await expect(stubborn).rejects.toMatchObject({ name: 'ServiceError', code: 'DATABASE_ERROR' });
    const persistent = database.mutate(async (tx) => {
      await tx.$executeRawUnsafe('UPDATE no_such_table SET x = 1').catch(() => undefined);
      await insert(tx, 'persistent');
      return { value: null, changed: true };
    });
    await expect(persistent).rejects.toMatchObject({ name: 'ServiceError', code: 'DATABASE_ERROR' });
    expect(await database.revision()).toBe(before);
    for (const name of ['stubborn', 'persistent']) expect(await find(database.client, name)).toBeNull();
    expect((await database.mutate(async () => ({ value: 1, changed: true }))).revision).toBe(before + 1);
  });

  it('reports every statement to the hook, and only to the one that was registered', async () => {
    const statements: string[] = [];
    const observed = await openDatabase({ url, migrate: false, onQuery: (sql) => statements.push(sql) });
    onTestFinished(() => observed.close());
    const made = await fewestQueries({ queries: statements }, () => observed.revision());
    expect(made).toEqual([expect.stringContaining('service_state')]);
  });

  it('is refused after closing, like everything else', async () => {
    const closed = await openDatabase({ url });
    const last = closed.mutate(async (tx) => ({ value: await insert(tx, 'before-closing'), changed: true }));
    const closing = closed.close();
    expect((await last).changed).toBe(true);
    await closing;
    const unavailable = { name: 'ServiceError', code: 'SERVICE_UNAVAILABLE' };
    await expect(closed.mutate(async () => ({ value: 1, changed: true }))).rejects.toMatchObject(unavailable);
    await expect(closed.revision()).rejects.toMatchObject(unavailable);
    await expect(find(closed.client, 'kept')).rejects.toMatchObject(unavailable);
    expect(await closed.ping()).toBe(false);
    await closed.close();
  });
});
