import type { DatabaseContent } from './database-content.js';
import type { DatabaseLocation } from './database-url.js';
import { withServiceErrors } from './errors.js';

export type { DatabaseContent } from './database-content.js';

/**
 * Inspects the location of a database without changing anything: no file is created and no migration applied.
 * Rejects with a `ServiceError` when it cannot be reached or read.
 */
export function inspectDatabase(location: DatabaseLocation): Promise<DatabaseContent> {
  return withServiceErrors(async () => {
    if (location.kind === 'sqlite') {
      const { inspectSqlite } = await import('./inspect-sqlite.js');
      return inspectSqlite(location.path);
    }
    const { inspectPostgresql } = await import('./inspect-postgresql.js');
    return inspectPostgresql(location.connectionString);
  });
}
