import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { CLICKHOUSE_URL } from './clickhouse.js';
import {
  copyPostgresqlTemplate,
  copySqliteTemplate,
  databaseOn,
  onPostgresql,
} from './database-templates.js';

export { onPostgresql as runOn } from './database-templates.js';

export type DatabaseKind = 'sqlite' | 'postgresql';
/** With ClickHouse, the event store is what is tested: the controls are in the database that is quicker to start. */
export const DATABASE_KINDS: readonly DatabaseKind[] =
  CLICKHOUSE_URL === undefined ? ['sqlite', 'postgresql'] : ['sqlite'];

/**
 * The database of what lies above the stores, which are tested with both. The system lane runs the same suites once more
 * with TEST_DATABASE_ABOVE_STORES=postgresql.
 */
const KIND_ABOVE_STORES: DatabaseKind =
  process.env.TEST_DATABASE_ABOVE_STORES === 'postgresql' ? 'postgresql' : 'sqlite';

/**
 * What a new database has: the structure of this version without data, as a service leaves it that starts for the first
 * time, or nothing at all, so that the service under test migrates it.
 */
export type Content = 'structure' | 'nothing';

/** A database for one suite. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, even when connections to it are still open. */
  drop(): Promise<void>;
}

/** Creates a database without data: a file in a temporary folder, or a database on the server of TEST_DATABASE_URL. */
export function createTestDatabase(
  kind: DatabaseKind,
  content: Content = 'structure',
): Promise<TestDatabase> {
  return kind === 'sqlite' ? createSqliteFile(content) : createPostgresqlDatabase(content);
}

async function createSqliteFile(content: Content): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-test-'));
  const file = join(folder, 'service.db');
  if (content === 'structure') copySqliteTemplate(file);
  return {
    url: `file:${file}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function createPostgresqlDatabase(content: Content): Promise<TestDatabase> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (!serverUrl)
    throw new Error('TEST_DATABASE_URL is not set: run with test/support/postgres-global-setup.ts');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  if (content === 'structure') await copyPostgresqlTemplate(serverUrl, name);
  else await onPostgresql(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  return {
    url: databaseOn(serverUrl, name),
    drop: () => onPostgresql(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

type Suite = (freshDatabaseUrl: () => Promise<string>, kind: DatabaseKind) => void;

/**
 * Defines a suite about stores, migrations or changes, once for each database. Every call of `freshDatabaseUrl` creates one
 * without data; all are dropped.
 */
export function describeOnEachDatabase(name: string, suite: Suite): void {
  describeOnDatabases(DATABASE_KINDS, name, suite, 'structure');
}

/** Defines a suite about what uses the stores: with one database, see `KIND_ABOVE_STORES`. */
export function describeAboveStores(name: string, suite: Suite): void {
  describeOnDatabases([KIND_ABOVE_STORES], name, suite, 'structure');
}

/**
 * Defines a suite with PostgreSQL about what does not depend on the database: where it is one of several suites that use
 * the same statements, so that these are used with both.
 */
export function describeOnPostgresql(name: string, suite: Suite): void {
  describeOnDatabases(DATABASE_KINDS.slice(-1), name, suite, 'structure');
}

/** The same about what migrates a database: those of `freshDatabaseUrl` have nothing. */
export function describeOnEachEmptyDatabase(name: string, suite: Suite): void {
  describeOnDatabases(DATABASE_KINDS, name, suite, 'nothing');
}

/** Defines a suite about what does not depend on the database, with the one that is quicker to start. */
export function describeOnSqlite(name: string, suite: Suite): void {
  describeOnDatabases(['sqlite'], name, suite, 'structure');
}

function describeOnDatabases(
  kinds: readonly DatabaseKind[],
  name: string,
  suite: Suite,
  content: Content,
): void {
  const stored = CLICKHOUSE_URL === undefined ? '' : ', events on ClickHouse';
  describe.each(kinds)(`${name} on %s${stored}`, (kind) => {
    const databases: TestDatabase[] = [];
    // Hooks run last registered first: whatever the suite opened is closed before this.
    afterAll(async () => {
      for (const database of databases) await database.drop();
    });
    suite(async () => {
      const database = await createTestDatabase(kind, content);
      databases.push(database);
      return database.url;
    }, kind);
  });
}
