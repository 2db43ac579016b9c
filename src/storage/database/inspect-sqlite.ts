import { statSync } from 'node:fs';
import { contentOf, type DatabaseContent, READ_ID } from './database-content.js';
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';

/** See `inspectDatabase`. */
export function inspectSqlite(path: string): DatabaseContent {
  // Opening a file that does not exist would create it.
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return 'nothing';
  const connection = openSqliteConnection(path, 'reader');
  try {
    const columns = connection.execute('PRAGMA table_info("service_state")').rows.map(([, name]) => name);
    if (columns.length === 0) return 'nothing';
    if (!columns.includes('instance_id')) return { instanceId: '' };
    return contentOf(connection.execute(READ_ID).rows);
  } finally {
    closeQuietly(connection);
  }
}

/** The result of the read counts, or the error that the caller already has. */
function closeQuietly(connection: SqliteConnection): void {
  try {
    connection.close();
  } catch {
    // Nothing was written.
  }
}
