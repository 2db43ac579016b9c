import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../../contract/errors/service-error.js';
import {
  type AppliedMigration,
  compareMigrations,
  type Migration,
  type MigrationStatus,
} from './migration-files.js';
import { compatibilityNote } from './migration-rules.js';
import { CONNECT_TIMEOUT_MS } from './postgres-pool.js';

/** The advisory lock of Prisma's own tools, so that they and the service never migrate concurrently. */
const MIGRATION_LOCK_ID = 72_707_369;
/**
 * How long a migration waits for a table that is in use, before it lets others go first and begins anew: other
 * transactions that need the table wait behind it.
 */
const TABLE_WAIT_MS = 2_000;
const PAUSE_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Applies the missing migrations, and waits at most `waitMs` for other processes that migrate or use the tables. Needs
 * no right to change the structure when nothing is missing.
 */
export function migratePostgresql(
  connectionString: string,
  known: readonly Migration[],
  waitMs: number,
): Promise<MigrationStatus> {
  return connected(connectionString, async (client) => {
    const before = await inspect(client, known);
    if (before.pending.length === 0) return before;
    const deadline = performance.now() + waitMs;
    for (;;) {
      const remainingMs = Math.max(1, Math.round(deadline - performance.now()));
      try {
        return await apply(client, known, remainingMs);
      } catch (error) {
        // A broken connection has ended it.
        await client.query('ROLLBACK').catch(() => {});
        const { code } = error as { code?: unknown };
        if (code === INSUFFICIENT_PRIVILEGE) throw lackOfRights(error);
        if (code !== LOCK_NOT_AVAILABLE || performance.now() >= deadline) throw error;
        await sleep(PAUSE_MS);
      }
    }
  });
}

/** Compares without changing anything. */
export function inspectPostgresqlMigrations(
  connectionString: string,
  known: readonly Migration[],
): Promise<MigrationStatus> {
  return connected(connectionString, (client) => inspect(client, known));
}

async function connected<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A broken connection rejects the pending query; without a listener it would also end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Ends an open transaction.
    await client.end();
  }
}

async function inspect(client: pg.Client, known: readonly Migration[]): Promise<MigrationStatus> {
  const { rows } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('public."_prisma_migrations"') IS NOT NULL AS "exists"`,
  );
  return compareMigrations(known, rows[0]?.exists === true ? await appliedTo(client) : []);
}

async function apply(
  client: pg.Client,
  known: readonly Migration[],
  waitMs: number,
): Promise<MigrationStatus> {
  await client.query('BEGIN');
  await client.query(`SET LOCAL search_path = public; SET LOCAL lock_timeout = ${waitMs}`);
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK_ID]);
  await client.query(`SET LOCAL lock_timeout = ${Math.min(waitMs, TABLE_WAIT_MS)}`);
  await client.query(CREATE_TABLE);
  const status = compareMigrations(known, await appliedTo(client));
  for (const { name, sql, checksum } of status.pending) {
    await client.query(sql);
    await client.query(
      `INSERT INTO "_prisma_migrations"
        ("id", "checksum", "migration_name", "logs", "finished_at", "applied_steps_count")
        VALUES ($1, $2, $3, $4, now(), 1)`,
      [randomUUID(), checksum, name, compatibilityNote(sql)],
    );
  }
  await client.query('COMMIT');
  return status;
}

async function appliedTo(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "finished", "logs" AS "note"
      FROM public."_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
  );
  return rows;
}

function lackOfRights(cause: unknown): ServiceError {
  const detail =
    'The database user has no right to change the structure of the database. Apply the migrations with one that has: ' +
    'run the command "migrate" with its address as SERVICE_MIGRATE_DB_URL, or set that variable for the service.';
  return new ServiceError('DATABASE_ERROR', { detail, cause });
}
