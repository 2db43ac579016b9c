import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { createSqliteThread, type SqliteThread } from '../../../src/storage/database/sqlite-thread.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';

const ADD = { sql: 'UPDATE "event_log" SET "events" = "events" + 1', args: [] };
/** No request: the thread ends by an uncaught error. */
const DEADLY = null;
const READ = { sql: 'SELECT "events" FROM "event_log"', args: [] };

describe('a thread of SQLite', () => {
  let file: TestDatabase;
  let thread: SqliteThread;
  const ends: Error[] = [];
  const workers: Worker[] = [];
  const started = (worker: Worker) => workers.push(worker);
  beforeEach(async () => {
    process.on('worker', started);
    file = await createTestDatabase('sqlite', 'nothing');
    await (await openDatabase({ url: file.url })).close();
    const location = parseDatabaseUrl(file.url);
    if (location.kind !== 'sqlite') throw new Error('not a file');
    thread = createSqliteThread({ path: location.path, busyTimeoutMs: 1_000, pragmas: [] }, (error) =>
      ends.push(error),
    );
  });
  afterEach(async () => {
    await thread.close();
    await file.drop();
    ends.splice(0);
    workers.splice(0);
    process.off('worker', started);
  });
  const read = async () =>
    Number((await thread.run({ transaction: '', statements: [READ], end: '' }))[0]?.rows[0]?.[0]);

  it('answers in the order of the calls', async () => {
    const [first, second] = await Promise.all([
      thread.run({ transaction: 'BEGIN', statements: [ADD], end: 'COMMIT' }),
      thread.run({ transaction: 'BEGIN', statements: [ADD, READ], end: 'COMMIT' }),
    ]);
    expect(first).toEqual([{ rows: [], changes: 1 }]);
    expect(second?.[1]?.rows).toEqual([[2n]]);
  });

  it('starts early when it is asked to, and once', async () => {
    thread.warm();
    thread.warm();
    expect(await read()).toBe(0);
    expect(workers).toHaveLength(1);
  });

  it('ends when it rests, which is no failure, and starts again for the next call', async () => {
    expect(await read()).toBe(0);
    const gone = new Promise((resolve) => workers[0]?.once('exit', resolve));
    thread.rest();
    thread.rest();
    expect(await gone).toBe(0);
    expect(await read()).toBe(0);
    expect(workers).toHaveLength(2);
    expect(ends).toEqual([]);
  });

  it('does not rest while it has calls, and is gone after it was closed', async () => {
    const answer = read();
    thread.rest();
    expect(await answer).toBe(0);
    expect(workers).toHaveLength(1);
    thread.rest();
    let isGone = false;
    workers[0]?.once('exit', () => {
      isGone = true;
    });
    await thread.close();
    expect(isGone).toBe(true);
    thread.warm();
    expect(workers).toHaveLength(1);
  });

  it('reports errors of the driver with their code', async () => {
    await expect(
      thread.run({ transaction: '', statements: [{ sql: 'SELECT * FROM "missing"', args: [] }], end: '' }),
    ).rejects.toMatchObject({ code: 'SQLITE_ERROR', message: expect.stringContaining('missing') });
    expect(await read()).toBe(0);
  });

  it('undoes a transaction that fails, and one that another follows without its end', async () => {
    await thread.run({ transaction: 'BEGIN', statements: [ADD], end: '' });
    await thread.run({ transaction: 'BEGIN', statements: [ADD], end: '' });
    await expect(
      thread.run({ transaction: '', statements: [{ sql: 'no sql', args: [] }], end: '' }),
    ).rejects.toThrow();
    await expect(thread.run({ transaction: 'OPEN', statements: [], end: 'COMMIT' })).rejects.toThrow();
    expect(await read()).toBe(0);
  });

  it('that ends fails all waiting calls, loses what was not committed, and is replaced', async () => {
    await thread.run({ transaction: 'BEGIN', statements: [ADD], end: 'COMMIT' });
    await thread.run({ transaction: 'BEGIN', statements: [ADD], end: '' });
    const unknown = { code: 'SERVICE_UNAVAILABLE', options: { hint: expect.stringContaining('not known') } };
    // Not `terminate`: within a call of the driver, that ends the whole process.
    workers.at(-1)?.postMessage(DEADLY);
    const waiting = [
      thread.run({ transaction: 'OPEN', statements: [ADD], end: '' }),
      thread.run({ transaction: 'OPEN', statements: [ADD], end: 'COMMIT' }),
    ].map((call) => expect(call).rejects.toMatchObject(unknown));
    await Promise.all(waiting);
    expect(ends).toHaveLength(1);
    expect(await read()).toBe(1);
    await thread.run({ transaction: 'BEGIN', statements: [ADD], end: 'COMMIT' });
    expect(await read()).toBe(2);
  });

  it('takes nothing in once it is closed', async () => {
    await read();
    await thread.close();
    await expect(read()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(ends).toEqual([]);
  });
});
