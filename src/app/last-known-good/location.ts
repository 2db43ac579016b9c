import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { DatabaseLocation } from '../../storage/database/database-url.js';

/** Location of the file. */
export interface FileLocation {
  /** Absolute path. */
  readonly path: string;
  /**
   * Whether the file belongs to this database alone: it was configured, or is next to the SQLite file. Then a
   * file of another database means that the database is not the expected one.
   */
  readonly isCertain: boolean;
}

/** Location of the file for a database; null for none. `setting` is the `lastKnownGood` of the Config. */
export function fileLocation(setting: string | null, database: DatabaseLocation): FileLocation | null {
  if (setting === 'off') return null;
  if (setting !== null) return { path: resolve(setting), isCertain: true };
  if (database.kind === 'sqlite') {
    return { path: resolve(`${database.path}.last-known-good`), isCertain: true };
  }
  return {
    path: resolve('data', `last-known-good-${shortHash(database.connectionString)}`),
    isCertain: false,
  };
}

/** By host, port and database, because the user and the password may change. */
function shortHash(connectionString: string): string {
  const { hostname, port, pathname, searchParams } = new URL(connectionString);
  const host = searchParams.get('host') ?? hostname;
  const portText = searchParams.get('port') ?? port;
  return createHash('sha256')
    .update(
      JSON.stringify([host, portText === '' ? '5432' : portText, decodeURIComponent(pathname.slice(1))]),
    )
    .digest('hex')
    .slice(0, 12);
}
