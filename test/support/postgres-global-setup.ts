import { startPostgresServer } from '../../scripts/postgres-server.mjs';
import { CLICKHOUSE_URL } from './clickhouse.js';

/**
 * Starts one PostgreSQL server for the whole test run, unless TEST_DATABASE_URL names another one. With ClickHouse, all
 * databases are SQLite files.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL || CLICKHOUSE_URL !== undefined) return undefined;
  const server = await startedServer();
  // Workers inherit the environment.
  process.env.TEST_DATABASE_URL = server.url;
  return async () => {
    delete process.env.TEST_DATABASE_URL;
    await server.stop();
  };
}

async function startedServer() {
  try {
    return await startPostgresServer();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `No PostgreSQL server can be started here (${reason}). Set TEST_DATABASE_URL to an address of one on which databases can be created, for example postgresql://user:password@localhost:5432/postgres.`,
    );
  }
}
