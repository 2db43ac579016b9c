import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe } from 'vitest';
import { CLICKHOUSE_URL } from './clickhouse.js';

export type DatabaseKind = 'sqlite' | 'postgresql';
/** With ClickHouse, the event store is what is tested: the controls are in the database that is quicker to start. */
export const DATABASE_KINDS: readonly DatabaseKind[] =
  CLICKHOUSE_URL === undefined ? ['sqlite', 'postgresql'] : ['sqlite'];

/** An empty database for one suite. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, even when connections to it are still open. */
  drop(): Promise<void>;
}

/** Creates an empty database: a file in a temporary folder, or a database on the server of TEST_DATABASE_URL. */
export function createTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  return kind === 'sqlite' ? createSqliteFile() : createPostgresqlDatabase();
}

async function createSqliteFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-test-'));
  return {
    url: `file:${join(folder, 'service.db')}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function createPostgresqlDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (!serverUrl)
    throw new Error('TEST_DATABASE_URL is not set: run with test/support/postgres-global-setup.ts');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await runOn(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  return { url: String(url), drop: () => runOn(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Runs one statement on a PostgreSQL database. */
export async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

type Suite = (freshDatabaseUrl: () => Promise<string>, kind: DatabaseKind) => void;

/** Defines a suite once for each database. Every call of `freshDatabaseUrl` creates an empty one; all are dropped. */
export function describeOnEachDatabase(name: string, suite: Suite): void {
  describeOnDatabases(DATABASE_KINDS, name, suite);
}

/** Defines a suite about what does not depend on the database, with the one that is quicker to start. */
export function describeOnSqlite(name: string, suite: Suite): void {
  describeOnDatabases(['sqlite'], name, suite);
}

function describeOnDatabases(kinds: readonly DatabaseKind[], name: string, suite: Suite): void {
  const stored = CLICKHOUSE_URL === undefined ? '' : ', events on ClickHouse';
  describe.each(kinds)(`${name} on %s${stored}`, (kind) => {
    const databases: TestDatabase[] = [];
    // Hooks run last registered first: whatever the suite opened is closed before this.
    afterAll(async () => {
      for (const database of databases) await database.drop();
    });
    suite(async () => {
      const database = await createTestDatabase(kind);
      databases.push(database);
      return database.url;
    }, kind);
  });
}
