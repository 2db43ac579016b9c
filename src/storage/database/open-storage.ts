import { resolve } from 'node:path';
import { parseDatabaseUrl } from './database-url.js';
import { type DatabaseOptions, DEFAULT_VARIABLE, type OpenedStorage } from './storage-options.js';

export type { DatabaseOptions, OpenedStorage } from './storage-options.js';

/** Opens a database and migrates its structure. May also reject with errors of the driver. Loads one driver only. */
export async function openStorage(options: DatabaseOptions): Promise<OpenedStorage> {
  const location = parseDatabaseUrl(options.url);
  const { variable = DEFAULT_VARIABLE } = options;
  if (location.kind === 'postgresql') {
    const [{ openPostgres }, { explainedConnection }] = await Promise.all([
      import('./open-postgres.js'),
      import('./postgres-failure.js'),
    ]);
    try {
      return await openPostgres(location, options);
    } catch (error) {
      throw explainedConnection(error, location, variable);
    }
  }
  // A later change of the working directory must not redirect a second connection.
  const path = resolve(location.path);
  const [{ openSqlite }, { explainedFailure }] = await Promise.all([
    import('./open-sqlite.js'),
    import('./sqlite-file.js'),
  ]);
  try {
    return await openSqlite(path, options);
  } catch (error) {
    throw explainedFailure(error, path, variable);
  }
}
