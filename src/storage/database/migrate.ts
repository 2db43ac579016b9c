/**
 * Migrates a database. All missing migrations are applied in one transaction under a lock, so that several
 * processes may start simultaneously and a failure leaves nothing half done. Applied migrations are recorded
 * in the table of Prisma's own tools, each with a note on the programs that can work with it.
 */
import type { DatabaseLocation } from './database-url.js';
import { type Migration, type MigrationStatus, readMigrations } from './migration-files.js';

/** How long a start waits for the migrations of another process, and for tables in use. */
const MIGRATION_WAIT_MS = 60_000;

/** A process uses one of the databases, and loads its driver only. */
const loadSqlite = () => import('./migrate-sqlite.js');
const loadPostgresql = () => import('./migrate-postgresql.js');

/** What was done. */
export interface MigrationResult extends Pick<MigrationStatus, 'newer'> {
  /** Names of the migrations that were missing. */
  readonly applied: readonly string[];
}

/**
 * Applies the missing migrations. `known` is for tests; the default is the migrations of this version. Rejects with
 * `DATABASE_ERROR` when the database must not be changed, and with the driver's error.
 */
export async function migrate(
  location: DatabaseLocation,
  known: readonly Migration[] = readMigrations(location.kind),
): Promise<MigrationResult> {
  const { pending, newer } =
    location.kind === 'sqlite'
      ? await (await loadSqlite()).migrateSqlite(location.path, known, MIGRATION_WAIT_MS)
      : await (await loadPostgresql()).migratePostgresql(location.connectionString, known, MIGRATION_WAIT_MS);
  return { applied: pending.map(({ name }) => name), newer };
}

/** Compares without changing anything; otherwise as `migrate`. */
export async function inspectMigrations(
  location: DatabaseLocation,
  known: readonly Migration[] = readMigrations(location.kind),
): Promise<MigrationStatus> {
  return location.kind === 'sqlite'
    ? (await loadSqlite()).inspectSqliteMigrations(location.path, known)
    : (await loadPostgresql()).inspectPostgresqlMigrations(location.connectionString, known);
}
