import { spawn } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import {
  compareMigrations,
  type Migration,
  readMigrations,
} from '../../../src/storage/database/migration-files.js';
import { type CompiledService, compileDatabase } from '../../support/compiled-database.js';
import { createTestDatabase, describeOnEachEmptyDatabase } from '../../support/databases.js';

describe('Migrations', () => {
  it('are the same steps for both databases', () => {
    const names = (kind: 'sqlite' | 'postgresql') => readMigrations(kind).map(({ name }) => name);
    expect(names('sqlite')).toEqual(names('postgresql'));
    expect(names('sqlite').length).toBeGreaterThan(0);
  });

  it('that another process left unfinished are not touched', () => {
    const applied = [{ name: 'first', checksum: 'a', finished: false, note: null }];
    const known = [{ name: 'first', checksum: 'a', sql: '' }];
    expect(() => compareMigrations(known, applied)).toThrow(/first was started and never finished/);
  });

  it('that rebuild a table of SQLite keep the rows that refer to it', async () => {
    const file = await createTestDatabase('sqlite', 'nothing');
    const location = parseDatabaseUrl(file.url);
    const database = await openDatabase({ url: file.url });
    await database.mutate(async (tx) => {
      const data = { name: 'agent', data: '{}', createdAtMs: 1n };
      const { id } = await tx.agent.create({ data });
      const control = await tx.control.create({ data: CONTROL });
      await tx.agentControl.create({ data: { agentId: id, controlId: control.id } });
      return { value: null, changed: true };
    });
    const [agents] = await database.client.$queryRaw<
      { sql: string }[]
    >`SELECT "sql" FROM "sqlite_master" WHERE "type" = 'table' AND "name" = 'agents'`;
    const rebuild = `CREATE TABLE new_agents AS SELECT * FROM agents; DROP TABLE agents; ${agents?.sql};
      INSERT INTO agents SELECT * FROM new_agents; DROP TABLE new_agents`;
    const step = { name: '9999_rebuild', sql: rebuild, checksum: 'rebuild' };
    await migrate(location, [...readMigrations('sqlite'), step]);
    expect(await database.client.agentControl.count()).toBe(1);
    await database.close();
    await file.drop();
  });
});

describeOnEachEmptyDatabase('Migrating', (freshDatabaseUrl, kind) => {
  const known = readMigrations(kind);
  const names = known.map(({ name }) => name);
  const step = (name: string, sql: string): Migration => ({ name, sql, checksum: name });
  let url: string;
  let compiled: CompiledService;

  beforeAll(async () => {
    compiled = await compileDatabase();
  });
  afterAll(() => compiled.remove());
  beforeEach(async () => {
    url = await freshDatabaseUrl();
  });

  it('brings an empty database up to date once', async () => {
    expect(await migrate(parseDatabaseUrl(url))).toEqual({ applied: names, newer: [] });
    expect(await migrate(parseDatabaseUrl(url))).toEqual({ applied: [], newer: [] });
    const database = await openDatabase({ url });
    expect(await database.revision()).toBe(0);
    await database.close();
  });

  it('is done exactly once when four processes start at the same time', async () => {
    // On a busy machine a change may wait for longer than it may; it is not made then.
    const script = `
      const { openDatabase } = await import(${JSON.stringify(compiled.databaseModule)});
      const database = await openDatabase({ url: ${JSON.stringify(url)} });
      for (let made = 0; made < 10; ) {
        try {
          await database.mutate(async () => ({ value: null, changed: true }));
          made += 1;
        } catch (error) {
          if (error.code !== 'SERVICE_UNAVAILABLE') throw error;
        }
      }
      await database.close();`;
    const started = Array.from({ length: 4 }, () => runModule(script));
    expect(await Promise.all(started)).toEqual([0, 0, 0, 0].map((code) => ({ code, stderr: '' })));
    expect((await migrate(parseDatabaseUrl(url))).applied).toEqual([]);
    const database = await openDatabase({ url });
    expect(await database.revision()).toBe(40);
    await database.close();
  });

  it('leaves nothing behind when a step fails', async () => {
    const location = parseDatabaseUrl(url);
    const good = step('9998_good', 'CREATE TABLE half_done (x INTEGER)');
    const bad = step('9999_bad', 'CREATE TABLE other (x INTEGER); INSERT INTO no_such_table VALUES (1)');
    await expect(migrate(location, [...known, good, bad])).rejects.toThrow(/no_such_table/);
    expect((await migrate(location, [...known, good])).applied).toEqual([...names, good.name]);
  });

  it('refuses a database that a newer version has changed in a way that excludes this one', async () => {
    const drops = 'ALTER TABLE policies DROP COLUMN updated_at_ms';
    await migrate(parseDatabaseUrl(url), [...known, step('9999_from_the_future', drops)]);
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      message: expect.stringMatching(/newer than this version.*9999_from_the_future/),
    });
  });

  it('refuses a database whose steps had other contents', async () => {
    const [first, ...rest] = known;
    if (first === undefined) throw new Error('there are no migrations');
    await migrate(parseDatabaseUrl(url), [{ ...first, checksum: 'edited' }, ...rest]);
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      message: expect.stringContaining(`${first.name} was applied with other contents`),
    });
  });
});

const CONTROL = {
  name: 'control',
  data: '{}',
  enabled: true,
  templateBacked: false,
  restrictsStepTypes: false,
  restrictsStages: false,
  createdAtMs: 1n,
  updatedAtMs: 1n,
};

function runModule(script: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, stderr }));
  });
}
