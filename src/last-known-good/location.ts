import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { DatabaseLocation } from '../database/database-url.js';

/** Where the file is. */
export interface FileLocation {
  /** Absolute. */
  readonly path: string;
  /**
   * Whether the file belongs to this database alone: somebody named it, or it lies beside the SQLite file. Then a file
   * of another database says that the database is not the one that is expected.
   */
  readonly isCertain: boolean;
}

/** Where the file of a database is; null when there is to be none. `setting` is the `lastKnownGood` of the Config. */
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

/** By host, port and database: the user and the password may change. */
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
