import pg from 'pg';
import { contentOf, type DatabaseContent, READ_ID } from './database-content.js';
import { CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './postgres-pool.js';

/** See `inspectDatabase`. */
export async function inspectPostgresql(connectionString: string): Promise<DatabaseContent> {
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
