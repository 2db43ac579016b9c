import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, open, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { readMigrations } from '../../../src/storage/database/migration-files.js';
import { CHECKED_TABLES, quickCheck, UNCHECKED_TABLES } from '../../../src/storage/database/quick-check.js';
import {
  BULK_WRITER_PRAGMAS,
  openSqliteConnection,
} from '../../../src/storage/database/sqlite-connection.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { openedInTest } from '../../support/opened.js';
import { executeSql } from '../../support/sql.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeOnEachEmptyDatabase('A database', (freshDatabaseUrl, kind) => {
  const opened = openedInTest<Database>((one) => one.close());
  async function opening(url: string, more: object = {}) {
    const warnings: { details: object; message: string }[] = [];
    const logger = {
      warn: (details: object, message: string) => void warnings.push({ details, message }),
    };
    const database = await openDatabase({ url, logger, variable: 'DB_URL', ...more });
    opened.push(database);
    return { database, warnings };
  }

  it('gets an identity when it is created, logs that, and keeps it', async () => {
    const url = await freshDatabaseUrl();
    const first = await opening(url);
    expect(first.database).toMatchObject({ created: true, instanceId: expect.stringMatching(UUID) });
    const [warning, ...others] = first.warnings;
    expect(others).toEqual([]);
    expect(warning?.message).toMatch(/^created a new, empty database at .+; .*check DB_URL/);
    expect(warning?.message).not.toContain('tests:tests');
    for (const more of [{}, { migrate: false }]) {
      const again = await opening(url, more);
      expect(again.database).toMatchObject({ created: false, instanceId: first.database.instanceId });
      expect(again.warnings).toEqual([]);
    }
  });

  it('has another identity than any other', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      ids.add((await opening(await freshDatabaseUrl())).database.instanceId);
    }
    expect(ids.size).toBe(3);
  });

  it('of an earlier version gets one when it is brought up to date, and does not count as created', async () => {
    const url = await freshDatabaseUrl();
    const known = readMigrations(kind);
    const before = known.findIndex(({ name }) => name.endsWith('instance_id'));
    await migrate(parseDatabaseUrl(url), known.slice(0, before));
    const { database, warnings } = await opening(url);
    expect(database).toMatchObject({ created: false, instanceId: expect.stringMatching(UUID) });
    expect(warnings).toEqual([]);
  });

  it('that has lost its identity is not opened', async () => {
    const url = await freshDatabaseUrl();
    const { database } = await opening(url);
    await database.close();
    await executeSql(url, `UPDATE "service_state" SET "instance_id" = ''`);
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      cause: expect.objectContaining({ message: 'the database has no instance id' }),
    });
  });
});

describe('A SQLite file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'own-file-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

  it('is made for its owner alone, with its log, and one that exists keeps its mode', async () => {
    const file = path.join(folder, 'service.db');
    const database = await openDatabase({ url: `file:${file}` });
    expect([await modeOf(file), await modeOf(`${file}-wal`)]).toEqual([0o600, 0o600]);
    await database.close();
    await chmod(file, 0o640);
    await (await openDatabase({ url: `file:${file}` })).close();
    expect(await modeOf(file)).toBe(0o640);
  });

  it.each([true, false])(
    'has everything without its log once it is closed: migrated %s',
    async (isMigrated) => {
      const file = path.join(folder, 'service.db');
      await (await openDatabase({ url: `file:${file}` })).close();
      const database = await openDatabase({ url: `file:${file}`, migrate: isMigrated });
      await database.mutate(async (tx) => {
        await tx.agent.create({ data: { name: 'kept-agent', data: '{}', createdAtMs: 1n } });
        return { value: null, changed: true };
      });
      expect((await stat(`${file}-wal`)).size).toBeGreaterThan(0);
      await database.close();
      expect(
        await stat(`${file}-wal`).then(
          ({ size }) => size,
          () => 0,
        ),
      ).toBe(0);
      const copy = path.join(folder, 'copy.db');
      await copyFile(file, copy);
      const copied = await openDatabase({ url: `file:${copy}` });
      expect(await copied.client.agent.count()).toBe(1);
      await copied.close();
    },
  );

  it('bounds its log', () => {
    const connection = openSqliteConnection(path.join(folder, 'service.db'), 'writer');
    const limit = connection.execute('PRAGMA journal_size_limit').rows[0]?.[0];
    connection.close();
    expect(limit).toBe(67_108_864n);
    expect(BULK_WRITER_PRAGMAS).toContain('journal_size_limit = 67108864');
  });
});

describe('A PostgreSQL address that does not work', () => {
  it.each<[string, (url: URL) => void, RegExp]>([
    [
      'of an unknown user',
      (url) => {
        url.username = 'nobody-here';
      },
      /(?:refuses the password of|does not let) the user nobody-here/,
    ],
    [
      'of an unknown database',
      (url) => {
        url.pathname = '/not-there';
      },
      /has no database not-there; create it, or correct its name/,
    ],
    [
      'of a port where nothing listens',
      (url) => {
        url.port = '1';
      },
      /refuses connections: nothing listens at this port/,
    ],
    [
      'of an unknown host',
      (url) => {
        url.hostname = 'no-such-host.invalid';
      },
      /cannot be found: the name of the host is not known/,
    ],
  ])('%s is told with variable and place, without the password', async (_what, change, told) => {
    const url = new URL(process.env.TEST_DATABASE_URL ?? '');
    const { password } = url;
    change(url);
    const refused: unknown = await openDatabase({ url: url.href, variable: 'SERVICE_DB_URL' }).catch(
      (error: unknown) => error,
    );
    const { message } = refused as Error;
    expect(message).toMatch(new RegExp(`^SERVICE_DB_URL: PostgreSQL at ${url.host.replaceAll('.', '\\.')} `));
    expect(message).toMatch(told);
    if (password !== '') expect(message).not.toContain(`:${password}@`);
  });
});

describe('A SQLite file that cannot be opened', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'opening-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const inFolder = (name: string) => path.join(folder, name);

  it.each<[string, () => Promise<string> | string, RegExp]>([
    ['below /proc, where no folder can be made', () => '/proc/x/service.db', /\/proc\/x/],
    ['several folders below /proc', () => '/proc/x/y/z/service.db', /cannot be reached or created/],
    ['in a folder of a device', () => '/dev/null/service.db', /\/dev\/null is not a folder\./],
    [
      'in a folder that is a file',
      async () => {
        await writeFile(inFolder('file'), '');
        return inFolder('file/service.db');
      },
      /file is not a folder\./,
    ],
    [
      'that is a folder',
      async () => {
        await mkdir(inFolder('service.db'));
        return inFolder('service.db');
      },
      /It is a folder, not a file\./,
    ],
    [
      'that is a pipe, which would never answer',
      async () => {
        await promisify(execFile)('mkfifo', [inFolder('service.db')]);
        return inFolder('service.db');
      },
      /It is not a regular file\./,
    ],
    ['that is a terminal', () => '/dev/tty', /It is not a regular file\./],
    [
      'behind links in a circle',
      async () => {
        await symlink(inFolder('a'), inFolder('service.db'));
        await symlink(inFolder('service.db'), inFolder('a'));
        return inFolder('service.db');
      },
      /ELOOP/,
    ],
    ['with a name that is too long', () => inFolder(`${'x'.repeat(300)}.db`), /ENAMETOOLONG/],
  ])('%s is refused with an error that names variable and path', async (_what, place, reason) => {
    const file = await place();
    const refused: unknown = await openDatabase({ url: `file:${file}`, variable: 'SERVICE_DB_URL' }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', state: 'DOWN' });
    const { message, cause } = refused as Error;
    expect(message).toMatch(/^SERVICE_DB_URL: the SQLite file /);
    expect(message).toContain(file);
    expect(message).toMatch(/Check the path and its permissions\.$/);
    expect(`${message} ${cause}`).toMatch(reason);
  });

  it('that another server listens on is refused, too', async () => {
    const server = createServer().listen(inFolder('service.db'));
    await new Promise((resolve) => server.once('listening', resolve));
    const refused = openDatabase({ url: `file:${inFolder('service.db')}` });
    await expect(refused).rejects.toThrow(/It is not a regular file\./);
    server.close();
  });

  const DAMAGED = { code: 'DATABASE_ERROR', state: 'CORRUPT' };

  async function sound(events: number): Promise<string> {
    const file = inFolder('service.db');
    const database = await openDatabase({ url: file });
    await database.mutate(async (tx) => {
      for (let row = 0; row < 200; row += 1) {
        await tx.agent.create({ data: { name: `agent-${row}`, data: 'x'.repeat(400), createdAtMs: 1n } });
      }
      return { value: null, changed: true };
    });
    await database.close();
    const connection = openSqliteConnection(file, 'writer');
    for (let row = 0; row < events; row += 1) {
      connection.execute(`INSERT INTO "changes" ("revision", "controls", "agents")
        VALUES (${row + 1_000}, hex(randomblob(2000)), NULL)`);
    }
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    connection.close();
    return file;
  }

  async function overwrite(file: string, from: number, bytes: Buffer): Promise<void> {
    const handle = await open(file, 'r+');
    await handle.write(bytes, 0, bytes.length, from);
    await handle.close();
  }

  it.each([
    ['a small one', 0],
    ['one that is checked in a thread', 1_500],
  ])('because it is damaged somewhere stops the start, with what to do: %s', async (_what, rows) => {
    const file = await sound(rows);
    const { size } = await stat(file);
    expect(await quickCheck(file)).toBe('all');
    // Not at its beginning, which SQLite itself would notice.
    for (let page = 20; page < size / 4096; page += 2)
      await overwrite(file, page * 4096, Buffer.alloc(4096, 0xa5));
    const refused = openDatabase({ url: file, variable: 'DB_URL' });
    await expect(refused).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringMatching(
        /^DB_URL: the SQLite file .+service\.db cannot be used\. .*damaged.* restore a backup/,
      ),
    });
  });

  it('because it was cut in half stops the start', async () => {
    const file = await sound(0);
    const handle = await open(file, 'r+');
    await handle.truncate(Math.floor((await stat(file)).size / 8192) * 4096);
    await handle.close();
    await expect(openDatabase({ url: file })).rejects.toMatchObject(DAMAGED);
  });

  it('because it is something else stops the start', async () => {
    await writeFile(inFolder('service.db'), 'this is certainly not a database '.repeat(1_000));
    await expect(openDatabase({ url: inFolder('service.db') })).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining(inFolder('service.db')),
    });
  });

  it('is found sound by a check that covers every table', async () => {
    const file = await sound(0);
    const connection = openSqliteConnection(file, 'reader');
    const { rows } = connection.execute(
      `SELECT "name" FROM "sqlite_schema" WHERE "type" = 'table' AND "name" NOT LIKE 'sqlite_%'`,
    );
    connection.close();
    const tables = rows.map(([name]) => String(name)).sort();
    expect([...CHECKED_TABLES, ...UNCHECKED_TABLES].sort()).toEqual(tables);
  });

  it('because it is damaged is refused although its size allows no check of all of it', async () => {
    const file = await sound(0);
    const page = rootPageOf(file, 'agents');
    await overwrite(file, (page - 1) * 4096, Buffer.alloc(4096, 0xa5));
    await expect(quickCheck(file, { wholeBytes: 0, hereBytes: 0 })).rejects.toMatchObject({
      state: 'CORRUPT',
    });
  });

  it('is used although a table of events is damaged, when its size allows no check of them', async () => {
    const file = await sound(0);
    const page = rootPageOf(file, 'events');
    await overwrite(file, (page - 1) * 4096, Buffer.alloc(4096, 0xa5));
    expect(await quickCheck(file, { wholeBytes: 0, hereBytes: 0 })).toBe('without events');
    await expect(quickCheck(file)).rejects.toMatchObject({ state: 'CORRUPT' });
  });
});

function rootPageOf(file: string, table: string): number {
  const connection = openSqliteConnection(file, 'reader');
  const { rows } = connection.execute('SELECT "rootpage" FROM "sqlite_schema" WHERE "name" = ?', [table]);
  connection.close();
  return Number(rows[0]?.[0]);
}
