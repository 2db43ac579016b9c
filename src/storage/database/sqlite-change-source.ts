import { newsOf, newsQuery } from './change-log.js';
import type { ChangeSource } from './change-source.js';
import { openSqliteConnection, type SqliteStatement } from './sqlite-connection.js';
import type { OpenedFiles } from './storage-health/file-check.js';

/**
 * How often the revision is read, in milliseconds. SQLite does not report writes of other processes; reading
 * one row with a prepared statement costs some microseconds.
 */
const POLL_MS = 25;

interface Reader {
  readonly latest: SqliteStatement;
  readonly news: SqliteStatement;
  close(): void;
}

/** Reads changes made by other processes in an opened SQLite file. */
export function createSqliteChangeSource(path: string, files: OpenedFiles): ChangeSource {
  let reader: Reader | null = null;
  let closed = false;
  return {
    pollMs: POLL_MS,
    async read(known) {
      if (closed) throw new Error('the database is closed');
      reader ??= openReader(path, files);
      const [row] = reader.latest().rows;
      if (row !== undefined && Number(row[0]) === known) return { revision: known, changes: [] };
      return newsOf(known, reader.news([BigInt(known)]).rows);
    },
    listen() {
      // There are no notifications, and polling is fast enough.
    },
    async close() {
      closed = true;
      reader?.close();
      reader = null;
    },
  };
}

function openReader(path: string, files: OpenedFiles): Reader {
  const connection = openSqliteConnection(path, 'reader', files);
  try {
    // A wait inside SQLite would block the whole process, and the next poll is due soon anyway.
    connection.execute('PRAGMA busy_timeout = 0');
    return {
      latest: connection.prepare('SELECT "revision" FROM "service_state" WHERE "id" = 1'),
      news: connection.prepare(newsQuery('?')),
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}
