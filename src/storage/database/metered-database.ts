import type { Database } from './database.js';

/** Timed database work: changes, bulk queries by lane, consistent reads of everything, bulk writes. */
export const DATABASE_OPERATIONS = ['mutation', 'statistics', 'search', 'scan', 'bulk_write'] as const;
export type DatabaseOperation = (typeof DATABASE_OPERATIONS)[number];

/**
 * A database that reports how long its work took, including waiting time, whether it succeeded or not.
 * Queries of the client are not timed: Prisma would make every one of them more expensive.
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
    // These change for a database that is opened later.
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
