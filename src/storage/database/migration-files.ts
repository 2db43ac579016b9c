import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../contract/errors/service-error.js';
import { findUp } from '../../contract/runtime/package-root.js';
import { isCompatible } from './migration-rules.js';

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
  /** See `compatibilityNote`; null in rows of programs that stored none. */
  readonly note: string | null;
}

/** The structure of a database, compared with that of this version. */
export interface MigrationStatus {
  /** Still to be applied, oldest first. */
  readonly pending: readonly Migration[];
  /** Names of the applied ones of a later version, which this version can work with. */
  readonly newer: readonly string[];
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
 * Compares the migrations of this version with those applied to a database. Rejects a database this version must not
 * use: one changed incompatibly by a newer version, one with a step that failed half-way, or one with different steps.
 */
export function compareMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): MigrationStatus {
  const ours = new Map(known.map((migration) => [migration.name, migration]));
  const latest = known.at(-1)?.name ?? '';
  const newer: string[] = [];
  for (const { name, checksum, finished, note } of applied) {
    if (!finished) throw refusal(`migration ${name} was started and never finished`);
    const migration = ours.get(name);
    if (migration === undefined) {
      if (!isCompatible(note, latest)) {
        throw refusal(
          `it is newer than this version of the service: migration ${name} is not known here, and not ${
            note === null ? 'known to be compatible' : 'compatible'
          } with this version`,
        );
      }
      newer.push(name);
    } else if (migration.checksum !== checksum) {
      throw refusal(`migration ${name} was applied with other contents`);
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  return { pending: known.filter(({ name }) => !done.has(name)), newer: newer.sort() };
}

function refusal(problem: string): ServiceError {
  return new ServiceError('DATABASE_ERROR', { detail: `The database cannot be used: ${problem}.` });
}
