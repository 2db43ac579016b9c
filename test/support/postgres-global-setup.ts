import { startPostgresServer } from '../../scripts/postgres-server.mjs';

/** Starts one PostgreSQL server for the whole test run, unless TEST_DATABASE_URL names another one. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL) return undefined;
  const server = await startPostgresServer();
  // Workers inherit the environment.
  process.env.TEST_DATABASE_URL = server.url;
  return async () => {
    delete process.env.TEST_DATABASE_URL;
    await server.stop();
  };
}
