import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asServiceError } from './errors.js';
import { withTimeout } from './in-time.js';
import { openSqliteConnection, untilNotBusy } from './sqlite-connection.js';
import { adviceOn, StorageError } from './storage-health/storage-state.js';

/** How long the file system may take to answer before the file is opened, in milliseconds. */
const FILE_SYSTEM_LIMIT_MS = 4_000;
/** How long a start waits while another process switches the same file to write-ahead logging. */
const WAL_SWITCH_WAIT_MS = 5_000;

/**
 * Creates the folder and the file of a database if missing, and switches the file to write-ahead logging,
 * which is persistent: readers must not wait for writers.
 */
export async function prepareSqliteFile(path: string): Promise<void> {
  try {
    await withTimeout(preparePath(path), FILE_SYSTEM_LIMIT_MS);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    throw new StorageError('DOWN', { detail: 'It cannot be reached or created.', cause });
  }
  const connection = openSqliteConnection(path, 'writer');
  try {
    const { rows } = await untilNotBusy(
      () => connection.execute('PRAGMA journal_mode = WAL'),
      WAL_SWITCH_WAIT_MS,
    );
    const mode = rows[0]?.[0];
    if (mode !== 'wal') {
      const detail = `Its file system does not allow write-ahead logging (journal mode ${String(mode)}).`;
      throw new StorageError('DOWN', { detail });
    }
  } finally {
    connection.close();
  }
}

async function preparePath(path: string): Promise<void> {
  await ensureFolder(dirname(path));
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return createPrivateFile(path);
  if (stats.isDirectory()) throw new StorageError('DOWN', { detail: 'It is a folder, not a file.' });
  // Reading from a pipe or a terminal would block forever.
  if (!stats.isFile()) throw new StorageError('DOWN', { detail: 'It is not a regular file.' });
}

/** Only for its owner, because controls and events are confidential; SQLite gives its log the same mode. */
async function createPrivateFile(path: string): Promise<void> {
  const file = await open(path, 'a', 0o600);
  await file.close();
}

/** Step by step: Node.js's recursive mkdir loops forever where a folder is impossible, such as in /proc. */
async function ensureFolder(folder: string): Promise<void> {
  try {
    return await makeFolder(folder);
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    await ensureFolder(parent);
  }
  await makeFolder(folder);
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    // On a read-only file system an existing folder has another code.
    const stats = await stat(folder).catch(() => null);
    if (stats === null) throw error;
    if (!stats.isDirectory()) throw new StorageError('DOWN', { detail: `${folder} is not a folder.` });
  }
}

/** An error of opening a SQLite file with the variable, the path and a remedy. */
export function explainedFailure(error: unknown, path: string, variable: string): Error {
  const known = asServiceError(error);
  if (!(known instanceof StorageError)) return known;
  const { state, options } = known;
  // Damage does not disappear while the start is retried.
  const code = state === 'CORRUPT' ? 'DATABASE_ERROR' : 'SERVICE_UNAVAILABLE';
  const advice = state === 'DOWN' ? 'Check the path and its permissions.' : adviceOn(state);
  const detail = `${variable}: the SQLite file ${path} cannot be used. ${options.detail} ${advice}`;
  return new StorageError(state, { code, detail, particular: known.particular, cause: options.cause });
}
