import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ServiceError } from '../../contract/errors/service-error.js';
import { parseDatabaseUrl } from './database-url.js';
import { withServiceErrors } from './errors.js';
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';

/** Definitions of controls and texts of events must be readable by the service only. */
const MODE = 0o600;
/** Suffixes of files that SQLite creates beside a database, and would treat as its own. */
const RESERVED_ENDINGS = ['-wal', '-shm', '-journal'];
/** File systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Contents of a backup. */
export interface BackupReport {
  readonly path: string;
  readonly bytes: number;
  readonly revision: number;
  readonly agents: number;
  readonly controls: number;
  readonly events: number;
}

/** Properties compared between a database and its copy. */
interface Contents extends Pick<BackupReport, 'revision' | 'agents' | 'controls' | 'events'> {
  readonly instanceId: string;
  readonly migrations: string;
}

/**
 * Copies a SQLite database to a file that does not exist yet, while processes may continue to write to it:
 * the copy contains everything committed when it began. It appears under its name only when it is complete,
 * flushed and checked. Rejects with a `ServiceError`; then there is no file.
 */
export function backUp(url: string, target: string): Promise<BackupReport> {
  return withServiceErrors(async () => {
    const location = parseDatabaseUrl(url);
    if (location.kind === 'postgresql') {
      throw refusal(
        'this command copies SQLite files; use pg_dump for a PostgreSQL database, or pg_basebackup for its server',
      );
    }
    const [source, path] = [resolve(location.path), resolve(target)];
    await demandPlaces(source, path);
    const partial = `${path}.${randomBytes(4).toString('hex')}.partial`;
    // SQLite writes to an existing file if it is empty, and this one has the right mode from the start.
    await (await create(partial)).close();
    try {
      return await copyAndCheck(source, partial, path);
    } finally {
      await unlink(partial).catch(() => {});
    }
  });
}

async function copyAndCheck(source: string, partial: string, path: string): Promise<BackupReport> {
  const connection = openSqliteConnection(source, 'writer');
  let before: Contents;
  let after: Contents;
  try {
    before = contentsOf(connection);
    connection.executeScript(`VACUUM INTO '${partial.replaceAll("'", "''")}'`);
    after = contentsOf(connection);
  } finally {
    connection.close();
  }
  await flush(partial);
  const { instanceId, migrations, ...copied } = check(partial);
  const isSame = instanceId === before.instanceId && migrations === before.migrations;
  const isOfThen = copied.revision >= before.revision && copied.revision <= after.revision;
  if (!isSame || !isOfThen) throw refusal('the copy is not what the database is');
  const { size } = await stat(partial);
  await publish(partial, path);
  await flush(dirname(path));
  return { path, bytes: size, ...copied };
}

async function demandPlaces(source: string, path: string): Promise<void> {
  if (!(await stat(source).catch(() => null))?.isFile()) throw refusal(`there is no database at ${source}`);
  if (RESERVED_ENDINGS.some((ending) => path === `${source}${ending}`)) {
    throw refusal(`${path} is a name that SQLite uses itself`);
  }
  if ((await lstat(path).catch(() => null)) !== null) throw exists(path);
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', MODE);
  } catch (error) {
    throw refusal(`a file cannot be created in ${dirname(path)}`, error);
  }
}

/** Reads the whole copy. */
function check(path: string): Contents {
  const connection = openSqliteConnection(path, 'reader');
  try {
    const { rows } = connection.execute('PRAGMA quick_check(1)');
    const found = String(rows[0]?.[0]);
    if (found !== 'ok') throw refusal(`the copy is damaged: ${found}`);
    return contentsOf(connection);
  } finally {
    connection.close();
  }
}

function contentsOf(connection: SqliteConnection): Contents {
  const { rows } = connection.execute(`
    SELECT "revision", "instance_id",
      (SELECT COUNT(*) FROM "agents"),
      (SELECT COUNT(*) FROM "controls"),
      (SELECT "events" FROM "event_log"),
      (SELECT group_concat("checksum") FROM (SELECT "checksum" FROM "_prisma_migrations" ORDER BY "migration_name"))
    FROM "service_state"`);
  const [revision, instanceId, agents, controls, events, migrations] = rows[0] ?? [];
  return {
    revision: Number(revision),
    instanceId: String(instanceId),
    agents: Number(agents),
    controls: Number(controls),
    events: Number(events),
    migrations: String(migrations),
  };
}

/** Gives the copy its name, unless a file of that name was created meanwhile. */
async function publish(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(path);
    if (!NO_LINKS.has(code)) throw refusal(`${path} cannot be created`, error);
    if ((await lstat(path).catch(() => null)) !== null) throw exists(path);
    await rename(partial, path);
  }
}

/** Flushes a file, or the entries of a folder, to disk. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const exists = (path: string): ServiceError =>
  refusal(`${path} exists already, and a backup does not overwrite anything`);

function refusal(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('DATABASE_ERROR', {
    detail: problem,
    ...(cause === undefined ? {} : { cause }),
  });
}
