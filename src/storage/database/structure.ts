/** Brings the structure of a database up to date before it is used, or demands that it is. */
import { ServiceError } from '../../contract/errors/service-error.js';
import { type DatabaseLocation, parseDatabaseUrl } from './database-url.js';
import { inspectDatabase } from './inspect-database.js';
import { inspectMigrations, type MigrationResult, migrate } from './migrate.js';
import { readMigrations } from './migration-files.js';

/** What happens to missing migrations when a database is opened. */
export interface StructureSettings {
  /** auto: they are applied; check: the database is refused; off: they are not looked for. */
  readonly mode: 'auto' | 'check' | 'off';
  /** Address of the same database with a user that may change its structure; null for the ordinary user. */
  readonly url: string | null;
}

/** What was found and done. */
export interface PreparedStructure extends MigrationResult {
  /** Whether the database was empty and has its structure now. */
  readonly created: boolean;
}

const UNTOUCHED: PreparedStructure = { applied: [], newer: [], created: false };

/** Rejects with `DATABASE_ERROR` if the database has not the structure that this version needs. */
export async function prepareStructure(
  location: DatabaseLocation,
  settings: StructureSettings,
): Promise<PreparedStructure> {
  if (settings.mode === 'auto') return applyMigrations(location, settings.url);
  if (settings.mode === 'off') {
    if ((await inspectDatabase(location)) === 'nothing') {
      throw refusal('There is no database, and SERVICE_MIGRATE=off does not let the service create one.');
    }
    return UNTOUCHED;
  }
  const { pending, newer } = await inspectMigrations(location);
  if (pending.length === 0) return { ...UNTOUCHED, newer };
  const names = pending.map(({ name }) => name).join(', ');
  throw refusal(
    `The database lacks ${counted(pending.length, 'migration')} of this version (${names}), and SERVICE_MIGRATE=check ` +
      'does not let the service apply them. Run the command "migrate" with the settings of the service first.',
  );
}

/** Applies the missing migrations, with the user of `url` if given. */
export async function applyMigrations(
  location: DatabaseLocation,
  url: string | null,
): Promise<PreparedStructure> {
  const result = url === null ? await migrate(location) : await applyAs(parseDatabaseUrl(url), location);
  return { ...result, created: result.applied.length === readMigrations(location.kind).length };
}

/** The other address may name another database by mistake; its data would then be missing from this one. */
async function applyAs(owner: DatabaseLocation, location: DatabaseLocation): Promise<MigrationResult> {
  const { pending, newer } = await inspectMigrations(location);
  if (pending.length === 0) return { applied: [], newer };
  const result = await migrate(owner);
  const [owned, used] = [await inspectDatabase(owner), await inspectDatabase(location)];
  if (owned === 'nothing' || used === 'nothing' || owned.instanceId !== used.instanceId) {
    throw refusal('SERVICE_MIGRATE_DB_URL is the address of another database than that of the service.');
  }
  return result;
}

/** A number with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function refusal(detail: string): ServiceError {
  return new ServiceError('DATABASE_ERROR', { detail });
}
