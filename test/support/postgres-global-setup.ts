import { startPostgresServer } from '../../scripts/postgres-server.mjs';
import { CLICKHOUSE_URL } from './clickhouse.js';

/**
 * Starts one PostgreSQL server for the whole test run, unless TEST_DATABASE_URL names another one. With ClickHouse, all
 * databases are SQLite files.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL || CLICKHOUSE_URL !== undefined) return undefined;
  const server = await startPostgresServer();
  // Workers inherit the environment.
  process.env.TEST_DATABASE_URL = server.url;
  return async () => {
    delete process.env.TEST_DATABASE_URL;
    await server.stop();
  };
}
