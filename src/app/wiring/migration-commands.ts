import { resolve } from 'node:path';
import {
  type DatabaseLocation,
  databasePlace,
  parseDatabaseUrl,
} from '../../storage/database/database-url.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inspectMigrations } from '../../storage/database/migrate.js';
import { explainedFailure, prepareSqliteFile } from '../../storage/database/sqlite-file.js';
import { applyMigrations, counted } from '../../storage/database/structure.js';
import { type Command, demandExisting } from './command.js';

/** Exit code of `migrate --check` if migrations are missing: neither success nor failure. */
const PENDING_EXIT_CODE = 3;

/** Applies missing migrations, whatever SERVICE_MIGRATE says. */
export const migrateCommand: Command = {
  failure: 'The database cannot be migrated',
  async run(config) {
    await demandExisting(config);
    const location = parseDatabaseUrl(config.databaseUrl);
    const { applied, newer } = await explained(location, config.databaseVariable, async () => {
      if (location.kind === 'sqlite') await prepareSqliteFile(resolve(location.path));
      return applyMigrations(location, config.migration.url);
    });
    if (applied.length === 0) return `${upToDate(location, newer)} Nothing was done.`;
    return `Applied ${counted(applied.length, 'migration')} to ${databasePlace(location)}: ${applied.join(', ')}.`;
  },
};

/** Names missing migrations and changes nothing. */
export const checkMigrations: Command = {
  failure: 'The migrations cannot be checked',
  async run({ databaseUrl, databaseVariable }) {
    const location = parseDatabaseUrl(databaseUrl);
    const { pending, newer } = await explained(location, databaseVariable, () => inspectMigrations(location));
    if (pending.length === 0) return upToDate(location, newer);
    const names = pending.map(({ name }) => name).join(', ');
    const missing = `${databasePlace(location)} lacks ${counted(pending.length, 'migration')}: ${names}.`;
    return { text: `${missing} Run the command "migrate" to apply them.`, exitCode: PENDING_EXIT_CODE };
  },
};

function upToDate(location: DatabaseLocation, newer: readonly string[]): string {
  const text = `${databasePlace(location)} has all migrations of this version.`;
  if (newer.length === 0) return text;
  const more = `${counted(newer.length, 'migration')} of a later version that this one can work with`;
  return `${text} It also has ${more}: ${newer.join(', ')}.`;
}

/** Rejects with errors that say what to do. */
function explained<T>(location: DatabaseLocation, variable: string, work: () => Promise<T>): Promise<T> {
  return withServiceErrors(async () => {
    try {
      return await work();
    } catch (error) {
      throw location.kind === 'sqlite' ? explainedFailure(error, location.path, variable) : error;
    }
  });
}
