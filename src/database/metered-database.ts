import type { Database } from './database.js';

/** Kinds of work on the database that are timed: changes, queries in each lane of the bulk part, reads of
 * everything at one moment, and its writing. */
export const DATABASE_OPERATIONS = ['mutation', 'statistics', 'search', 'scan', 'bulk_write'] as const;
export type DatabaseOperation = (typeof DATABASE_OPERATIONS)[number];

/**
 * A database that tells how long its work took, waiting for its turn included, whether it succeeded or not. Queries of
 * the client are not timed: Prisma would make every one of them dearer for it.
 */
export function meteredDatabase(
  database: Database,
  timed: (operation: DatabaseOperation, seconds: number) => void,
): Database {
  const measured = async <T>(operation: DatabaseOperation, work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      timed(operation, (performance.now() - startMs) / 1000);
    }
  };
  const { bulk } = database;
  return {
    ...database,
    // Of a database that is opened later these change.
    get instanceId() {
      return database.instanceId;
    },
    get created() {
      return database.created;
    },
    mutate: (work) => measured('mutation', () => database.mutate(work)),
    readAtOnce: (work) => measured('scan', () => database.readAtOnce(work)),
    bulk: {
      read: (lane, query) => measured(lane, () => bulk.read(lane, query)),
      transaction: (work) => measured('bulk_write', () => bulk.transaction(work)),
    },
  };
}
