import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../contract/errors/service-error.js';
import { findUp } from '../process/package-root.js';

/** One versioned step of the database's structure. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the SQL, in hexadecimal. */
  readonly checksum: string;
}

/** A row of `_prisma_migrations` that was not rolled back. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

/** The migrations of one database in this version, oldest first. */
export function readMigrations(kind: 'sqlite' | 'postgresql'): Migration[] {
  const folder = findUp(join('prisma', kind, 'migrations'));
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/**
 * The migrations still to be applied. Rejects a database this version must not change: one changed by a newer
 * version, one with a step that failed half-way, or one with different steps.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const ours = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of applied) {
    const migration = ours.get(name);
    if (migration === undefined) {
      throw refusal(`it is newer than this version of the service: migration ${name} is not known here`);
    }
    if (!finished) throw refusal(`migration ${name} was started and never finished`);
    if (migration.checksum !== checksum) throw refusal(`migration ${name} was applied with other contents`);
  }
  const done = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}

function refusal(problem: string): ServiceError {
  return new ServiceError('DATABASE_ERROR', { detail: `The database cannot be used: ${problem}.` });
}
