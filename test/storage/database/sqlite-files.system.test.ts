import { existsSync } from 'node:fs';
import {
  copyFile,
  link,
  open,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  openSqliteConnection,
  type SqliteConnection,
} from '../../../src/storage/database/sqlite-connection.js';
import { SqliteFiles } from '../../../src/storage/database/sqlite-files.js';
import { createSqliteThread } from '../../../src/storage/database/sqlite-thread.js';
import { quickFolder } from '../../support/faulty-disks.js';

const REPLACED = { state: 'REPLACED', code: 'SERVICE_UNAVAILABLE' };
const CORRUPT = { state: 'CORRUPT', code: 'SERVICE_UNAVAILABLE' };

describe('the files of a SQLite database', () => {
  let folder: string;
  let file: string;
  let writer: SqliteConnection;
  let files: SqliteFiles;

  beforeEach(async () => {
    folder = await quickFolder('sqlite-files-');
    file = path.join(folder, 'service.db');
    writer = openSqliteConnection(file, 'writer');
    writer.execute('PRAGMA journal_mode = WAL');
    writer.executeScript('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
    fill(200);
    writer.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    fill(50);
    files = SqliteFiles.open(file);
  });
  afterEach(async () => {
    writer.close();
    files.close();
    await rm(folder, { recursive: true, force: true });
  });

  function fill(rows: number): void {
    for (let row = 0; row < rows; row += 1) {
      writer.execute('INSERT INTO t (text) VALUES (hex(randomblob(500)))');
    }
  }

  it('are in order as long as nothing happens to them', async () => {
    await files.verify();
    fill(10);
    await files.verify();
    await files.verifyWritable();
  });

  const checkpoint = (mode: string) => () => void writer.execute(`PRAGMA wal_checkpoint(${mode})`);
  it.each<[string, () => void]>([
    ['a checkpoint', checkpoint('PASSIVE')],
    ['a checkpoint after which the log begins anew', checkpoint('RESTART')],
    ['a checkpoint that empties the log', checkpoint('TRUNCATE')],
    [
      'vacuuming, which makes the file smaller',
      () => {
        writer.executeScript('DELETE FROM t WHERE id > 20; VACUUM');
        writer.execute('PRAGMA wal_checkpoint(TRUNCATE)');
      },
    ],
  ])('are in order after %s', async (_what, change) => {
    await files.verify();
    const { size } = await stat(file);
    change();
    await files.verify();
    fill(5);
    await files.verify();
    if (_what.startsWith('vacuuming')) expect((await stat(file)).size).toBeLessThan(size);
  });

  it.each<[string, (of: string) => Promise<unknown>, object]>([
    ['it is deleted', (of) => unlink(of), REPLACED],
    ['it is moved away', (of) => rename(of, `${of}.old`), REPLACED],
    ['its folder is moved away', (of) => rename(path.dirname(of), `${path.dirname(of)}.old`), REPLACED],
    [
      'a copy takes its place',
      async (of) => {
        await copyFile(of, `${of}.copy`);
        await rename(`${of}.copy`, of);
      },
      REPLACED,
    ],
    ['it is emptied', (of) => truncate(of, 0), CORRUPT],
    ['it is cut in half', async (of) => truncate(of, Math.floor((await stat(of)).size / 2)), CORRUPT],
    ['it is overwritten with something else', (of) => overwrite(of, Buffer.alloc(4096, 'garbage')), CORRUPT],
    [
      'a database without a log is written over it',
      async (of) => {
        writer.executeScript(`VACUUM INTO '${of}.backup'`);
        await copyFile(`${of}.backup`, of);
      },
      CORRUPT,
    ],
    ['its log is removed', (of) => unlink(`${of}-wal`), REPLACED],
    [
      'its log is replaced',
      async (of) => {
        await copyFile(`${of}-wal`, `${of}.copy`);
        await rename(`${of}.copy`, `${of}-wal`);
      },
      REPLACED,
    ],
    ['its log is emptied', (of) => truncate(`${of}-wal`, 0), CORRUPT],
    [
      'its log is cut in half',
      async (of) => truncate(`${of}-wal`, Math.floor((await stat(`${of}-wal`)).size / 2)),
      CORRUPT,
    ],
    ['its log is overwritten', (of) => overwrite(`${of}-wal`, Buffer.alloc(4096, 7)), CORRUPT],
    ['the index of its log is removed', (of) => unlink(`${of}-shm`), REPLACED],
  ])('are not in order when %s', async (_what, fault, expected) => {
    await files.verify();
    await fault(file);
    await expect(files.verify()).rejects.toMatchObject(expected);
    await rm(`${folder}.old`, { recursive: true, force: true });
  });

  it('are in order again when the file comes back', async () => {
    await rename(file, `${file}.old`);
    await expect(files.verify()).rejects.toMatchObject(REPLACED);
    await rename(`${file}.old`, file);
    await files.verify();
  });

  it('are distinguished by what they are, not by names: a second name changes nothing', async () => {
    await link(file, `${file}.second`);
    await unlink(file);
    await rename(`${file}.second`, file);
    await files.verify();
  });

  it('are found behind a symbolic link, and another target is noticed', async () => {
    const name = path.join(folder, 'link.db');
    await symlink(file, name);
    const linked = SqliteFiles.open(name);
    onTestFinished(() => linked.close());
    await linked.verify();
    await copyFile(file, `${file}.copy`);
    await unlink(name);
    await symlink(`${file}.copy`, name);
    await expect(linked.verify()).rejects.toMatchObject(REPLACED);
  });

  it('report whether everything in a log that is gone can still be saved', async () => {
    await files.verify();
    expect(files.isLogMissing).toBe(false);
    await unlink(`${file}-wal`);
    await expect(files.verify()).rejects.toMatchObject(REPLACED);
    expect(files.isLogMissing).toBe(true);
    await writeFile(`${file}-wal`, '');
    await expect(files.verify()).rejects.toMatchObject(REPLACED);
    expect(files.isLogMissing).toBe(false);
  });

  it.each([
    ['is gone', async () => {}],
    ['was replaced', () => writeFile(`${file}-wal`, '')],
  ])('are not opened again, nor another log created, when their log %s', async (what, replace) => {
    await unlink(`${file}-wal`);
    await replace();
    const thread = createSqliteThread(
      { path: file, busyTimeoutMs: 1_000, pragmas: ['query_only = ON'], files: files.opened },
      () => {},
    );
    const read = {
      transaction: '',
      statements: [{ sql: 'SELECT COUNT(*) FROM t', args: [] }],
      end: '',
    } as const;
    await expect(thread.run(read)).rejects.toMatchObject(REPLACED);
    await thread.close();
    expect(() => openSqliteConnection(file, 'reader', files.opened)).toThrow(
      expect.objectContaining(REPLACED),
    );
    expect(existsSync(`${file}-wal`)).toBe(what === 'was replaced');
    if (what === 'is gone') expect(files.isLogMissing).toBe(true);
  });

  it('are in order while others write, empty the log and begin it anew', async () => {
    const options = { path: file, busyTimeoutMs: 10_000, pragmas: ['synchronous = OFF'] };
    const threads = [1, 2, 3].map(() => createSqliteThread(options, () => {}));
    let isOver = false;
    const busy = threads.map(async (thread, index) => {
      const insert = { sql: 'INSERT INTO t (text) VALUES (hex(randomblob(2000)))', args: [] };
      const mode = ['PASSIVE', 'RESTART', 'TRUNCATE'][index];
      const empty = { sql: `PRAGMA wal_checkpoint(${mode})`, args: [] };
      for (let count = 0; count < 150; count += 1) {
        await thread.run({ transaction: 'BEGIN', statements: [insert, insert], end: 'COMMIT' });
        await thread.run({ transaction: '', statements: [empty], end: '' });
      }
    });
    const all = Promise.all(busy).finally(() => {
      isOver = true;
    });
    let verified = 0;
    while (!isOver) {
      await files.verify();
      verified += 1;
      await othersTurn();
    }
    await all;
    for (const thread of threads) await thread.close();
    expect(verified).toBeGreaterThan(10);
  });
});

async function overwrite(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, 0);
  await handle.close();
}
