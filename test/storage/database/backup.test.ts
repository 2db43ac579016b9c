import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/storage/database/backup.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { openSqliteConnection } from '../../../src/storage/database/sqlite-connection.js';

describe('a backup of a SQLite database', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'backup-'));
    file = path.join(folder, 'service.db');
    const database = await openDatabase({ url: file });
    await database.mutate(async (tx) => {
      for (const name of ['one', 'two'])
        await tx.agent.create({ data: { name, data: '{}', createdAtMs: 1n } });
      return { value: null, changed: true };
    });
    await database.close();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const target = (name = 'copy.db') => path.join(folder, name);
  const names = async () => (await readdir(folder)).filter((name) => !name.startsWith('service.db')).sort();

  it('reports what it contains, and is a database of the same identity that can be used', async () => {
    const report = await backUp(`file:${file}`, target());
    const { size, mode } = await stat(target());
    expect(report).toEqual({ path: target(), bytes: size, revision: 1, agents: 2, controls: 0, events: 0 });
    expect(mode & 0o777).toBe(0o600);
    expect(await names()).toEqual(['copy.db']);
    const original = await openDatabase({ url: file });
    const copy = await openDatabase({ url: target() });
    expect(copy).toMatchObject({ created: false, instanceId: original.instanceId });
    expect(await copy.client.agent.count()).toBe(2);
    expect((await copy.mutate(async () => ({ value: null, changed: true }))).revision).toBe(2);
    await copy.close();
    await original.close();
  });

  it('holds what is only in the log, and nothing of a transaction that is open', async () => {
    const reader = openSqliteConnection(file, 'reader');
    reader.execute('SELECT 1 FROM "agents"');
    const database = await openDatabase({ url: file });
    let openEnd = () => {};
    const ended = new Promise<void>((resolve) => {
      openEnd = resolve;
    });
    await database.mutate(async (tx) => {
      await tx.agent.create({ data: { name: 'in the log', data: '{}', createdAtMs: 1n } });
      return { value: null, changed: true };
    });
    let started = () => {};
    const isOpen = new Promise<void>((resolve) => {
      started = resolve;
    });
    const open = database.mutate(async (tx) => {
      await tx.agent.create({ data: { name: 'not committed', data: '{}', createdAtMs: 1n } });
      started();
      await ended;
      return { value: null, changed: true };
    });
    await isOpen;
    expect(await backUp(file, target())).toMatchObject({ agents: 3, revision: 2 });
    openEnd();
    await open;
    await database.close();
    reader.close();
  });

  it('takes a name with quotes', async () => {
    const name = `it's "quoted".db`;
    await backUp(file, target(name));
    expect(await names()).toEqual([name]);
  });

  it.each<[string, () => Promise<string> | string, RegExp]>([
    [
      'over a file that exists',
      async () => {
        await writeFile(target(), 'precious');
        return target();
      },
      /exists already, and a backup does not overwrite anything/,
    ],
    ['over the database itself', () => file, /exists already/],
    ['to a name of SQLite', () => `${file}-journal`, /a name that SQLite uses itself/],
    ['into a folder that does not exist', () => target('nowhere/copy.db'), /cannot be created in .*nowhere/],
    [
      'over a folder',
      async () => {
        await mkdir(target());
        return target();
      },
      /exists already/,
    ],
  ])('is not made %s', async (_what, place, reason) => {
    const where = await place();
    const before = await names();
    await expect(backUp(file, where)).rejects.toThrow(reason);
    expect(await names()).toEqual(before);
  });

  it('is not made of what is not there, and creates nothing', async () => {
    await expect(backUp(target('nix.db'), target())).rejects.toThrow(/there is no database at .*nix\.db/);
    expect(await names()).toEqual([]);
  });

  it('is not made of PostgreSQL; it names the tools for that', async () => {
    await expect(backUp('postgresql://user:secret@127.0.0.1/service', target())).rejects.toThrow(
      /pg_dump.*pg_basebackup/,
    );
    expect(await names()).toEqual([]);
  });

  it('is not made of something else, or of a damaged file, and leaves nothing behind', async () => {
    await writeFile(target('strange.db'), 'this is certainly not a database '.repeat(1_000));
    await expect(backUp(target('strange.db'), target())).rejects.toMatchObject({ state: 'CORRUPT' });
    expect(await names()).toEqual(['strange.db']);
  });
});
