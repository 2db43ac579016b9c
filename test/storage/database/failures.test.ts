import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { asServiceError } from '../../../src/storage/database/errors.js';
import {
  beginWriting,
  openSqliteConnection,
  type SqliteConnection,
} from '../../../src/storage/database/sqlite-connection.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { newControl, stores, write } from './support.js';

const UNAVAILABLE = { name: 'ServiceError', code: 'SERVICE_UNAVAILABLE', options: { retryAfterSeconds: 1 } };
const REFUSED = { name: 'ServiceError', code: 'DATABASE_ERROR' };

describe('A failure of the database', () => {
  it.each([
    { code: 'P1001' },
    { code: 'P2028' },
    { code: 'P2010', meta: { driverAdapterError: { cause: { kind: 'postgres', code: '57014' } } } },
    { code: 'P2010', meta: { driverAdapterError: { cause: { kind: 'sqlite', extendedCode: 778 } } } },
    { cause: { kind: 'DatabaseNotReachable' } },
    { code: '53300' },
    { code: '25006' },
    { code: 'ECONNREFUSED' },
    { rawCode: 5 },
    { rawCode: 13 },
    { rawCode: 11 },
    { errors: [{ code: 'ECONNREFUSED' }, { code: 'ENETUNREACH' }] },
    new Error('timeout exceeded when trying to connect'),
    new Error('timeout expired'),
    new Error('outer', { cause: new Error('Connection terminated unexpectedly') }),
  ])('that may pass is SERVICE_UNAVAILABLE: %j', (error) => {
    expect(asServiceError(error)).toMatchObject({ ...UNAVAILABLE, cause: error });
  });

  it.each([
    { code: 'P2002' },
    { code: '23505' },
    { code: 'P2010', meta: { driverAdapterError: { cause: { kind: 'sqlite', extendedCode: 1 } } } },
    new Error('something else'),
    'a text',
    null,
  ])('of any other kind is DATABASE_ERROR: %j', (error) => {
    expect(asServiceError(error)).toMatchObject({ ...REFUSED, cause: error });
  });

  it('that is an error of the service already stays what it is', () => {
    const error = new ServiceError('AGENT_NOT_FOUND', { detail: 'none' });
    expect(asServiceError(error)).toBe(error);
  });

  it('whose causes form a circle is understood', () => {
    const error = new Error('round');
    error.cause = error;
    expect(asServiceError(error)).toMatchObject(REFUSED);
  });
});

describe('SQLite', () => {
  let file: TestDatabase;
  let path: string;
  let database: Database;

  beforeAll(async () => {
    file = await createTestDatabase('sqlite');
    path = file.url.slice('file:'.length);
    database = await openDatabase({ url: file.url });
  });
  afterAll(async () => {
    await database.close();
    await file.drop();
  });

  it('creates the folder of a new file', async () => {
    const deep = await openDatabase({ url: `file:${dirname(path)}/some/where/new.db` });
    expect(await deep.revision()).toBe(0);
    await deep.close();
  });

  it('keeps its settings on both connections, also after many transactions', async () => {
    for (let i = 0; i < 3; i++) await database.mutate(async () => ({ value: null, changed: true }));
    const settings = async (client: Database['client']) => {
      const read = async (name: string) => {
        const [row] = await client.$queryRawUnsafe<object[]>(`PRAGMA ${name}`);
        return Object.values(row ?? {}).map(String)[0];
      };
      return {
        wal: await read('journal_mode'),
        full: await read('synchronous'),
        keys: await read('foreign_keys'),
      };
    };
    const expected = { wal: 'wal', full: '2', keys: '1' };
    expect(await settings(database.client)).toEqual(expected);
    const { value } = await database.mutate(async (tx) => ({ value: await settings(tx), changed: false }));
    expect(value).toEqual(expected);
  });

  it('does not let a write slip past the mutations', async () => {
    const writing = createAgentStore(scoped(database.client)).insert({
      name: 'past',
      data: '{}',
      createdAtMs: 1,
    });
    await expect(writing).rejects.toBeInstanceOf(ServiceError);
    expect(await createAgentStore(scoped(database.client)).find('past')).toBeNull();
  });

  it('waits for the lock of another process without stopping this one, and not forever', async () => {
    const holder = openSqliteConnection(path, 'writer');
    const waiter = openSqliteConnection(path, 'writer');
    onTestFinished(() => waiter.close());
    onTestFinished(() => holder.close());
    await beginWriting(holder, 0);
    const failed = await beginWriting(waiter, 30).catch(asServiceError);
    expect(failed).toMatchObject(UNAVAILABLE);
    let got = false;
    const waiting = beginWriting(waiter, 60_000).then(() => {
      got = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(got).toBe(false);
    holder.executeScript('COMMIT');
    await waiting;
    expect(waiter.inTransaction).toBe(true);
  });

  it('on a full disk undoes the whole mutation and continues when there is room again', async () => {
    const before = await database.revision();
    const name = 'too-large';
    const filling = database.mutate(async (tx) => {
      await tx.$queryRawUnsafe('PRAGMA max_page_count = 100');
      const { controls, agents } = stores(tx);
      await agents.insert({ name, data: '{}', createdAtMs: 1 });
      await controls.insert(newControl('large', { data: JSON.stringify('x'.repeat(1_000_000)) }));
      return { value: null, changed: true };
    });
    await expect(filling).rejects.toMatchObject(UNAVAILABLE);
    expect(await createAgentStore(scoped(database.client)).find(name)).toBeNull();
    const { revision } = await database.mutate(async (tx) => {
      await tx.$queryRawUnsafe('PRAGMA max_page_count = 1000000');
      return { value: null, changed: true };
    });
    expect(revision).toBe(before + 1);
  });

  it('reports when the file is none of its own, or a folder', async () => {
    const strange = `${dirname(path)}/strange.db`;
    await writeFile(strange, 'this is certainly not a database '.repeat(1_000));
    await expect(openDatabase({ url: strange })).rejects.toMatchObject(REFUSED);
    const folder = `${dirname(path)}/folder.db`;
    await mkdir(folder);
    await expect(openDatabase({ url: folder })).rejects.toMatchObject(UNAVAILABLE);
    await rm(folder, { recursive: true });
  });
});

describe('A connection to SQLite', () => {
  let file: TestDatabase;
  let connection: SqliteConnection;

  beforeAll(async () => {
    file = await createTestDatabase('sqlite');
    connection = openSqliteConnection(file.url.slice('file:'.length), 'writer');
  });
  afterAll(async () => {
    connection.close();
    await file.drop();
  });

  it('keeps every kind of value as it is', () => {
    const values = [null, 'text é😀', 1.5, 2n ** 62n, -5n, new Uint8Array([0, 255])];
    const { rows } = connection.execute('SELECT ?, ?, ?, ?, ?, ?', values);
    expect(
      rows.map((row) => row.map((value) => (Buffer.isBuffer(value) ? new Uint8Array(value) : value))),
    ).toEqual([values]);
  });
});

describe('PostgreSQL', () => {
  let server: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    server = await createTestDatabase('postgresql');
    database = await openDatabase({ url: server.url });
  });
  afterAll(async () => {
    await database.close();
    await server.drop();
  });

  it.each([
    ['a statement that takes too long', "SET LOCAL statement_timeout = '50ms'", 'SELECT pg_sleep(60)'],
    [
      'a database that is read-only',
      'SET LOCAL lock_timeout = 50',
      'SET TRANSACTION READ ONLY; DELETE FROM agents',
    ],
  ])('%s is unavailable, and the next mutation succeeds', async (_, setting, sql) => {
    const slow = database.mutate(async (tx) => {
      await tx.$executeRawUnsafe(setting);
      for (const statement of sql.split(';')) await tx.$executeRawUnsafe(statement);
      return { value: null, changed: true };
    });
    await expect(slow).rejects.toMatchObject(UNAVAILABLE);
    expect(await write(database, async () => 'fine')).toBe('fine');
  });

  it('holds the row of the revision while a mutation is open', async () => {
    await database.mutate(async () => {
      const competing = database.client.$queryRaw`SELECT 1 FROM service_state FOR UPDATE NOWAIT`;
      expect(asServiceError(await competing.catch((error: unknown) => error))).toMatchObject(UNAVAILABLE);
      return { value: null, changed: true };
    });
  });

  it('that has neither the database nor the password is unavailable, and the password stays secret', async () => {
    const missing = new URL(server.url);
    missing.pathname = '/no_such_database';
    await expect(openDatabase({ url: String(missing) })).rejects.toMatchObject(UNAVAILABLE);
    const wrong = new URL(server.url);
    wrong.password = 'hunter2';
    const refused = await openDatabase({ url: String(wrong) }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'ServiceError', message: expect.not.stringContaining('hunter2') });
  });
});
