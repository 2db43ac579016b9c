import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import {
  type AppliedMigration,
  compareMigrations,
  type Migration,
  type MigrationStatus,
} from './migration-files.js';
import { compatibilityNote } from './migration-rules.js';
import { beginWriting, openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
)`;

/** Applies the missing migrations to a SQLite file, which is created if it does not exist. */
export async function migrateSqlite(
  path: string,
  known: readonly Migration[],
  waitMs: number,
): Promise<MigrationStatus> {
  const connection = openSqliteConnection(path, 'writer');
  try {
    // A migration that rebuilds a table would otherwise delete referring rows. No effect in a transaction.
    connection.execute('PRAGMA foreign_keys = OFF');
    await beginWriting(connection, waitMs);
    const status = apply(connection, known);
    connection.executeScript('COMMIT');
    return status;
  } finally {
    // Also rolls back an open transaction.
    connection.close();
  }
}

/** Compares without changing anything; a file that does not exist lacks all migrations. */
export function inspectSqliteMigrations(path: string, known: readonly Migration[]): MigrationStatus {
  // Opening a file that does not exist would create it.
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return { pending: known, newer: [] };
  const connection = openSqliteConnection(path, 'reader');
  try {
    const hasTable = connection.execute('PRAGMA table_info("_prisma_migrations")').rows.length > 0;
    return compareMigrations(known, hasTable ? appliedTo(connection) : []);
  } finally {
    connection.close();
  }
}

function apply(connection: SqliteConnection, known: readonly Migration[]): MigrationStatus {
  connection.executeScript(CREATE_TABLE);
  const status = compareMigrations(known, appliedTo(connection));
  for (const { name, sql, checksum } of status.pending) {
    const now = new Date().toISOString().replace('Z', '+00:00');
    connection.executeScript(sql);
    connection.execute(
      `INSERT INTO "_prisma_migrations"
        ("id", "checksum", "migration_name", "logs", "started_at", "finished_at", "applied_steps_count")
        VALUES (?, ?, ?, ?, ?, ?, 1)`,
      [randomUUID(), checksum, name, compatibilityNote(sql), now, now],
    );
  }
  if (status.pending.length > 0 && connection.execute('PRAGMA foreign_key_check').rows.length > 0) {
    throw new Error('the migrations would leave references to rows that do not exist');
  }
  return status;
}

function appliedTo(connection: SqliteConnection): AppliedMigration[] {
  const { rows } = connection.execute(
    `SELECT "migration_name", "checksum", "finished_at" IS NOT NULL, "logs"
      FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
  );
  return rows.map(([name, checksum, finished, note]) => ({
    name: String(name),
    checksum: String(checksum),
    finished: finished === 1n,
    note: typeof note === 'string' ? note : null,
  }));
}
