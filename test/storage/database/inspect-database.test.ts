import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { inspectDatabase } from '../../../src/storage/database/inspect-database.js';
import { createTestDatabase, describeOnEachEmptyDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeOnEachEmptyDatabase('a database that is looked at', (freshDatabaseUrl) => {
  it('has nothing before its structure is created, and then the id it was given', async () => {
    const url = await freshDatabaseUrl();
    const location = parseDatabaseUrl(url);
    expect(await inspectDatabase(location)).toBe('nothing');
    const first = await openDatabase({ url });
    expect(first.created).toBe(true);
    expect(first.instanceId).toMatch(UUID);
    expect(await inspectDatabase(location)).toEqual({ instanceId: first.instanceId });
    await first.close();
    const second = await openDatabase({ url });
    expect(second.created).toBe(false);
    expect(second.instanceId).toBe(first.instanceId);
    await second.close();
  });

  it('differs from every other database', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const database = await openDatabase({ url: await freshDatabaseUrl() });
      ids.add(database.instanceId);
      await database.close();
    }
    expect(ids.size).toBe(3);
  });

  it('has no id yet when an older version made it', async () => {
    const url = await freshDatabaseUrl();
    await (await openDatabase({ url })).close();
    await executeSql(url, 'ALTER TABLE "service_state" DROP COLUMN "instance_id"');
    expect(await inspectDatabase(parseDatabaseUrl(url))).toEqual({ instanceId: '' });
  });

  it('has nothing when its tables are those of another program', async () => {
    const url = await freshDatabaseUrl();
    await executeSql(url, 'CREATE TABLE "somebody" ("else" TEXT)');
    expect(await inspectDatabase(parseDatabaseUrl(url))).toBe('nothing');
  });
});

it('a SQLite file that does not exist is not created by looking', async () => {
  const { url, drop } = await createTestDatabase('sqlite', 'nothing');
  const location = parseDatabaseUrl(url);
  if (location.kind !== 'sqlite') throw new Error('not a file');
  expect(await inspectDatabase(location)).toBe('nothing');
  expect(await inspectDatabase({ kind: 'sqlite', path: `${location.path}/below/it` })).toBe('nothing');
  expect(existsSync(location.path)).toBe(false);
  await writeFile(location.path, '');
  expect(await inspectDatabase(location)).toBe('nothing');
  expect(await readdir(dirname(location.path))).toEqual(['service.db']);
  await writeFile(location.path, 'no database at all\n'.repeat(100));
  await expect(inspectDatabase(location)).rejects.toMatchObject({ state: 'CORRUPT' });
  await drop();
});

it('a PostgreSQL server that does not answer is unavailable', async () => {
  const location = parseDatabaseUrl('postgresql://nobody@127.0.0.1:1/none');
  await expect(inspectDatabase(location)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
