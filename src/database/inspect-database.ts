import { statSync } from 'node:fs';
import pg from 'pg';
import type { DatabaseLocation } from './database-url.js';
import { withServiceErrors } from './errors.js';
import { CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './postgres-pool.js';
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';

/** Content found at the location of a database. */
export type DatabaseContent =
  /** Nothing, or a database without the structure of the service. */
  | 'nothing'
  /** A database of the service. The id is empty in one created by an older version and not migrated since. */
  | { readonly instanceId: string };

/**
 * Inspects the location of a database without changing anything: no file is created and no migration applied.
 * Rejects with a `ServiceError` when it cannot be reached or read.
 */
export function inspectDatabase(location: DatabaseLocation): Promise<DatabaseContent> {
  return withServiceErrors(async () =>
    location.kind === 'sqlite' ? inspectSqlite(location.path) : inspectPostgresql(location.connectionString),
  );
}

const READ_ID = 'SELECT "instance_id" FROM "service_state" WHERE "id" = 1';

function inspectSqlite(path: string): DatabaseContent {
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

async function inspectPostgresql(connectionString: string): Promise<DatabaseContent> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
  });
  // A broken connection rejects the pending query; without a listener it would also end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = 'service_state'`,
    );
    const columns = rows.map(({ column_name }) => column_name);
    if (columns.length === 0) return 'nothing';
    if (!columns.includes('instance_id')) return { instanceId: '' };
    await client.query('SET search_path = public');
    return contentOf((await client.query<unknown[]>({ text: READ_ID, rowMode: 'array' })).rows);
  } finally {
    await client.end().catch(() => {});
  }
}

function contentOf([row]: readonly (readonly unknown[])[]): DatabaseContent {
  return row === undefined ? 'nothing' : { instanceId: String(row[0]) };
}

/** The result of the read counts, or the error that the caller already has. */
function closeQuietly(connection: SqliteConnection): void {
  try {
    connection.close();
  } catch {
    // Nothing was written.
  }
}
