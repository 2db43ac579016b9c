import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { nodeFileSystem } from '../../../src/app/last-known-good/file-system.js';
import { createOpening } from '../../../src/app/last-known-good/opening.js';
import {
  migrateDatabase,
  type StartedDatabase,
  startDatabase,
} from '../../../src/app/last-known-good/start-database.js';
import { StateFile } from '../../../src/app/last-known-good/state-file.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';
import { sample, writing } from './support.js';

const AWAY = 'postgresql://nobody@127.0.0.1:1/none';

let folder: string;
let path: string;
let file: StateFile;
const started: StartedDatabase[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
  path = join(folder, 'state');
  file = new StateFile(path, nodeFileSystem);
});
afterEach(async () => {
  for (const { wait, database } of started.splice(0)) {
    await wait?.stop();
    await database.close();
  }
  await rm(folder, { recursive: true });
});

interface Given {
  readonly url: string;
  readonly expected?: 'any' | 'existing';
  readonly setting?: string | null;
}

const configOf = ({ url, expected = 'any', setting = path }: Given) => ({
  databaseUrl: url,
  databaseExpected: expected,
  databaseVariable: 'DATABASE_URL',
  migration: { mode: 'auto' as const, url: null },
  lastKnownGood: setting,
});

function logged() {
  const lines: string[] = [];
  const at = (level: string) => (_facts: object, message: string) => lines.push(`${level} ${message}`);
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

async function start(given: Given, isTold = false) {
  const { lines, log } = logged();
  const config = configOf(given);
  const found = await startDatabase({
    config,
    log,
    isMigrated: false,
    isTold,
    now: () => 1_700_000_060_000,
  });
  started.push(found);
  return { ...found, lines };
}

/**
 * Moves a SQLite file as another process would. The driver closes a connection when it is garbage-collected;
 * until then, this process would use the log of the old place for the same file at the new one.
 */
async function moveTo(place: string, from: string): Promise<void> {
  await copyFile(from, `${from}.copy`);
  await rename(`${from}.copy`, place);
  await rm(from);
}

/** Resolves with whether the database that was opened at last is another one than the file is from. */
function opened({ wait }: StartedDatabase): Promise<boolean> {
  return new Promise((resolve) => {
    if (wait === null) throw new Error('nothing is waited for');
    wait.start(resolve);
  });
}

const revisionOf = (database: Database) => database.revision().catch((error: Error) => error.message);
const save = (instanceId: string, revision = 5) =>
  file.save(writing(sample(revision, { instanceId, timeMs: 1_700_000_000_000 })));

describe('a start without a database that answers', () => {
  it('uses the file, logs that once, and refuses everything else with the reason', async () => {
    await save('an-instance');
    const { database, header, wait, lines } = await start({ url: AWAY });
    expect(header).toMatchObject({ revision: 5, instanceId: 'an-instance' });
    expect(wait?.problem?.state).toBe('DOWN');
    expect(lines).toEqual([
      expect.stringMatching(
        /^warn the database cannot be reached \(.*ECONNREFUSED.*\); evaluating by the last known good controls; everything that needs the database is refused$/,
      ),
    ]);
    expect(await revisionOf(database)).toBe(
      'The database cannot be reached. Only evaluations are answered, by the last known good controls.',
    );
    expect(database).toMatchObject({ kind: 'postgresql', instanceId: 'an-instance' });
  });

  it('goes by the file when the server accepts connections and never answers', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    onTestFinished(() => void silent.close());
    await save('an-instance');
    const { header, wait } = await start({ url: `postgresql://nobody@127.0.0.1:${port}/none` });
    expect(header?.instanceId).toBe('an-instance');
    expect(wait?.problem?.state).toBe('DOWN');
  });

  it('is logged by one of several processes', async () => {
    await save('an-instance');
    const { lines } = await start({ url: AWAY }, true);
    expect(lines).toEqual([expect.stringMatching(/^debug /)]);
    const told = logged();
    expect(await migrateDatabase({ config: configOf({ url: AWAY }), log: told.log })).toBe(false);
    expect(told.lines).toEqual([expect.stringMatching(/^warn the database cannot be reached/)]);
  });

  it.each([
    ['there is no file', async () => {}, null],
    [
      'the file is damaged',
      () => writeFile(path, 'x'),
      /^warn the last known good file cannot be used.*JSON$/,
    ],
    ['the file is switched off', () => save('an-instance'), null],
  ] as const)('fails as ever when %s', async (what, prepare, line) => {
    await prepare();
    const setting = what.includes('switched off') ? 'off' : path;
    const { lines, log } = logged();
    const config = configOf({ url: AWAY, setting });
    const options = { config, log, isMigrated: false, isTold: false, now: () => 0 };
    await expect(startDatabase(options)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(lines).toEqual(line === null ? [] : [expect.stringMatching(line)]);
    await expect(migrateDatabase({ config, log })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('fails with a URL that cannot be used, whatever the file contains', async () => {
    await save('an-instance');
    await expect(start({ url: 'mysql://x/y' })).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
  });
});

describeOnEachEmptyDatabase('a start with a file', (freshDatabaseUrl) => {
  it('opens the database that the file is from', async () => {
    const url = await freshDatabaseUrl();
    const first = await openDatabase({ url });
    await first.close();
    await save(first.instanceId);
    const { database, wait, header, lines } = await start({ url });
    expect([wait, header, lines]).toEqual([null, null, []]);
    expect(await revisionOf(database)).toBe(0);
  });

  it('logs that the file is damaged, and continues without it', async () => {
    await writeFile(path, '{"format":"something else"}\n');
    const url = await freshDatabaseUrl();
    await (await openDatabase({ url })).close();
    const { wait, lines } = await start({ url });
    expect(wait).toBeNull();
    expect(lines).toEqual([
      'warn the last known good file cannot be used and is ignored: it is not a last-known-good file',
    ]);
  });

  it.each(['empty', 'another'])(
    'does not use a database that is %s, and leaves it as it is',
    async (what) => {
      const url = await freshDatabaseUrl();
      if (what === 'another') await (await openDatabase({ url })).close();
      await save('the-lost-one');
      const { database, header, wait, lines } = await start({ url });
      expect(header?.instanceId).toBe('the-lost-one');
      expect(wait?.problem?.state).toBe('REPLACED');
      expect(lines).toEqual([
        expect.stringMatching(
          /^warn the database is not the one that .*state is from.*restore.*or delete that file/,
        ),
      ]);
      expect(await revisionOf(database)).toMatch(/not the one that this service has used before/);
      if (what === 'empty') {
        await expect(executeSql(url, 'SELECT 1 FROM "service_state"')).rejects.toThrow();
      }
    },
  );

  it('accepts another database when the file is deleted', async () => {
    const url = await freshDatabaseUrl();
    await save('the-lost-one');
    const begun = await start({ url });
    const hasOtherState = opened(begun);
    await rm(path);
    expect(await hasOtherState).toBe(true);
    // No revision that callers were told has another meaning in this database.
    expect(await revisionOf(begun.database)).toBe(6);
    expect(begun.wait?.problem).toBeNull();
    expect(begun.database.created).toBe(true);
  });

  it('accepts another database where many share a folder, logs that once, and keeps the file', async () => {
    const url = await freshDatabaseUrl();
    await save('the-lost-one');
    const { lines, log } = logged();
    const attempt = createOpening({
      location: parseDatabaseUrl(url),
      expected: 'any',
      file: { path, isCertain: false, content: file },
      open: () => openDatabase({ url }),
      log,
    });
    for (const created of [true, false]) {
      const { database, problem } = await attempt();
      expect(problem).toBeNull();
      expect(database?.created).toBe(created);
      await database?.close();
    }
    expect(lines).toEqual([
      expect.stringMatching(/^error the database is not the one that this service has used/),
    ]);
    expect(await readdir(folder)).toEqual(['state.the-lost']);
  });

  it('accepts another database when the file has no controls', async () => {
    await file.save(writing(sample(5, { controls: [], policies: [], agents: [] })));
    expect((await start({ url: await freshDatabaseUrl() })).wait).toBeNull();
  });

  it('takes the database when the right one comes', async () => {
    const [url, wrong] = [await freshDatabaseUrl(), await freshDatabaseUrl()];
    const right = await openDatabase({ url });
    await right.close();
    await save(right.instanceId, 0);
    const begun = await start({ url: wrong });
    expect(begun.wait?.problem?.state).toBe('REPLACED');
    const hasOtherState = opened(begun);
    await (await openDatabase({ url: wrong })).close();
    await executeSql(wrong, `UPDATE "service_state" SET "instance_id" = '${right.instanceId}'`);
    expect(await hasOtherState).toBe(false);
    expect(await revisionOf(begun.database)).toBe(0);
  });

  it('moves the database past the revision of the file when it comes in an earlier state', async () => {
    const [url, wrong] = [await freshDatabaseUrl(), await freshDatabaseUrl()];
    const right = await openDatabase({ url });
    await right.close();
    await save(right.instanceId, 5);
    const begun = await start({ url: wrong });
    const hasOtherState = opened(begun);
    await (await openDatabase({ url: wrong })).close();
    await executeSql(wrong, `UPDATE "service_state" SET "instance_id" = '${right.instanceId}'`);
    expect(await hasOtherState).toBe(true);
    expect(await revisionOf(begun.database)).toBe(6);
  });
});

describeOnEachEmptyDatabase('a start that must not create a database', (freshDatabaseUrl, kind) => {
  it('waits for one, with nothing to go by, and creates none', async () => {
    const url = await freshDatabaseUrl();
    const begun = await start({ url, expected: 'existing' });
    expect(begun.header).toBeNull();
    expect(begun.wait?.problem?.state).toBe('MISSING');
    expect(begun.lines).toEqual([
      expect.stringMatching(
        /^warn there is no database .*SERVICE_DATABASE_EXPECTED=existing.*no last known good/,
      ),
    ]);
    expect(await revisionOf(begun.database)).toMatch(/SERVICE_DATABASE_EXPECTED/);
    if (kind === 'sqlite') expect(await readdir(dirname(url.replace('file:', '')))).toEqual([]);
    const hasOtherState = opened(begun);
    await (await openDatabase({ url })).close();
    expect(await hasOtherState).toBe(false);
    expect(await revisionOf(begun.database)).toBe(0);
  });

  it('waits by the file when there is one', async () => {
    await save('an-instance');
    const { header, wait } = await start({ url: await freshDatabaseUrl(), expected: 'existing' });
    expect(header?.revision).toBe(5);
    expect(wait?.problem?.state).toBe('MISSING');
  });

  it('uses a database that is there', async () => {
    const url = await freshDatabaseUrl();
    await (await openDatabase({ url })).close();
    expect((await start({ url, expected: 'existing' })).wait).toBeNull();
  });

  it('lets the processes of one service start without it', async () => {
    const { lines, log } = logged();
    const config = configOf({ url: await freshDatabaseUrl(), expected: 'existing' });
    expect(await migrateDatabase({ config, log })).toBe(false);
    expect(lines).toHaveLength(1);
  });
});

describe('a SQLite file', () => {
  const databasePath = () => join(folder, 'data', 'service.db');
  const url = () => `file:${databasePath()}`;
  /** A database with the file beside it, as the service leaves both. */
  async function used(): Promise<string> {
    const made = join(folder, 'made.db');
    const database = await openDatabase({ url: `file:${made}` });
    await database.close();
    await executeSql(`file:${made}`, 'PRAGMA wal_checkpoint(TRUNCATE)');
    await mkdir(join(folder, 'data'));
    await moveTo(databasePath(), made);
    file = new StateFile(`${databasePath()}.last-known-good`, nodeFileSystem);
    await save(database.instanceId, 0);
    return database.instanceId;
  }

  it('that was deleted is not created anew beside its last known good file', async () => {
    await used();
    await rename(databasePath(), join(folder, 'away'));
    const begun = await start({ url: url(), setting: null });
    expect(begun.wait?.problem?.state).toBe('REPLACED');
    expect(await readdir(join(folder, 'data'))).toEqual(['service.db.last-known-good']);
    const hasOtherState = opened(begun);
    await rename(join(folder, 'away'), databasePath());
    expect(await hasOtherState).toBe(false);
  });

  it('that is damaged is waited for until it is restored', async () => {
    await used();
    const good = await readFile(databasePath());
    await writeFile(databasePath(), 'garbage '.repeat(1_000));
    const begun = await start({ url: url(), setting: null });
    expect(begun.wait?.problem?.state).toBe('CORRUPT');
    expect(begun.lines).toEqual([
      expect.stringMatching(/^warn the database is damaged and has to be restored/),
    ]);
    expect(await revisionOf(begun.database)).toMatch(/^The database is damaged\./);
    const hasOtherState = opened(begun);
    await writeFile(databasePath(), good);
    expect(await hasOtherState).toBe(false);
    expect(await revisionOf(begun.database)).toBe(0);
  });

  it('whose folder is lost with everything in it is created anew, unless one is expected', async () => {
    await used();
    await rm(join(folder, 'data'), { recursive: true });
    const expected = await start({ url: url(), setting: null, expected: 'existing' });
    expect(expected.wait?.problem?.state).toBe('MISSING');
    expect(existsSync(join(folder, 'data'))).toBe(false);
    expect((await start({ url: url(), setting: null })).wait).toBeNull();
  });
});

describe('waiting for a database', () => {
  it('logs what is in the way when that becomes another thing, and continues', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    // Of a newer version: waiting does not change that, an operator can.
    const newer = join(folder, 'newer.db');
    await (await openDatabase({ url: `file:${newer}` })).close();
    await executeSql(
      `file:${newer}`,
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at") VALUES ('x', 'x', '9999', 1);
       PRAGMA wal_checkpoint(TRUNCATE)`,
    );
    const url = `file:${join(data, 'service.db')}`;
    const begun = await start({ url, expected: 'existing' });
    const hasOtherState = opened(begun);
    await writeFile(join(data, 'service.db'), 'garbage '.repeat(1_000));
    await until(
      () => begun.wait?.problem?.state,
      (state) => state === 'CORRUPT',
    );
    await moveTo(join(data, 'service.db'), newer);
    await until(
      () => begun.lines.at(-1),
      (line) => /newer than this version/.test(line ?? ''),
    );
    await executeSql(url, `DELETE FROM "_prisma_migrations" WHERE "migration_name" = '9999'`);
    expect(await hasOtherState).toBe(false);
    // While files are moved there may be more than one reason for the last one.
    expect([...new Set(begun.lines.map((line) => line.slice(0, 28)))]).toEqual([
      'warn there is no database of',
      'error the database is damage',
      'error the database cannot be',
    ]);
  });
});
