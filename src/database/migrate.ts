/**
 * Migrates a database. All missing migrations are applied in one transaction under a lock, so that several
 * processes may start simultaneously and a failure leaves nothing half done. Applied migrations are recorded
 * in the table of Prisma's own tools.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DatabaseLocation } from './database-url.js';
import { type Migration, pendingMigrations, readMigrations } from './migration-files.js';
import { CONNECT_TIMEOUT_MS } from './postgres-pool.js';
import { beginWriting, openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';

/** How long a start waits for the migrations of another process. */
const MIGRATION_WAIT_MS = 60_000;
/** The advisory lock of Prisma's own tools, so that they and the service never migrate concurrently. */
const MIGRATION_LOCK_ID = 72_707_369;

const CREATE_SQLITE_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
)`;
const CREATE_POSTGRESQL_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;
const SELECT_APPLIED = `SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "finished"
  FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`;

/**
 * Applies the missing migrations and returns their names. `known` is for tests; the default is the migrations
 * of this version. Rejects with `DATABASE_ERROR` when the database must not be changed, and with the driver's
 * error.
 */
export function migrate(
  location: DatabaseLocation,
  known: readonly Migration[] = readMigrations(location.kind),
): Promise<string[]> {
  if (location.kind === 'sqlite') return migrateSqlite(location.path, known);
  return migratePostgresql(location.connectionString, known);
}

async function migrateSqlite(path: string, known: readonly Migration[]): Promise<string[]> {
  const connection = openSqliteConnection(path, 'writer');
  try {
    // A migration that rebuilds a table would otherwise delete referring rows. No effect in a transaction.
    connection.execute('PRAGMA foreign_keys = OFF');
    await beginWriting(connection, MIGRATION_WAIT_MS);
    const names = applyToSqlite(connection, known);
    connection.executeScript('COMMIT');
    return names;
  } finally {
    // Also rolls back an open transaction.
    connection.close();
  }
}

function applyToSqlite(connection: SqliteConnection, known: readonly Migration[]): string[] {
  connection.executeScript(CREATE_SQLITE_TABLE);
  const applied = connection.execute(SELECT_APPLIED).rows.map(([name, checksum, finished]) => ({
    name: String(name),
    checksum: String(checksum),
    finished: finished === 1n,
  }));
  const pending = pendingMigrations(known, applied);
  for (const { name, sql, checksum } of pending) {
    const now = new Date().toISOString().replace('Z', '+00:00');
    connection.executeScript(sql);
    connection.execute(
      `INSERT INTO "_prisma_migrations"
        ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
        VALUES (?, ?, ?, ?, ?, 1)`,
      [randomUUID(), checksum, name, now, now],
    );
  }
  if (pending.length > 0 && connection.execute('PRAGMA foreign_key_check').rows.length > 0) {
    throw new Error('the migrations would leave references to rows that do not exist');
  }
  return pending.map(({ name }) => name);
}

async function migratePostgresql(connectionString: string, known: readonly Migration[]): Promise<string[]> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A broken connection rejects the pending query; without a listener it would also end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL search_path = public; SET LOCAL lock_timeout = ${MIGRATION_WAIT_MS}`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK_ID]);
    const names = await applyToPostgresql(client, known);
    await client.query('COMMIT');
    return names;
  } finally {
    // Ends an open transaction.
    await client.end();
  }
}

async function applyToPostgresql(client: pg.Client, known: readonly Migration[]): Promise<string[]> {
  await client.query(CREATE_POSTGRESQL_TABLE);
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(SELECT_APPLIED);
  const pending = pendingMigrations(known, rows);
  for (const { name, sql, checksum } of pending) {
    await client.query(sql);
    await client.query(
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at", "applied_steps_count")
        VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), checksum, name],
    );
  }
  return pending.map(({ name }) => name);
}
