import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkValue } from './bulk.js';
import { errorChain, textCodesOf } from './storage-health/storage-failure.js';
import { StorageError } from './storage-health/storage-state.js';

const WRITE = Prisma.sql`UPDATE "storage_probe" SET "writes" = "writes" + 1 WHERE "id" = 1`;
const READ = Prisma.sql`
  SELECT p."writes", s."instance_id" FROM "storage_probe" p, "service_state" s WHERE p."id" = 1 AND s."id" = 1`;

/**
 * Creates the probe: a small write that is committed. It rejects when that fails, and with a `StorageError`
 * when the database is not the one of `instanceId`. Of several processes on one database, one writes: the
 * others accept a write of another process since their last check.
 */
export function createWriteProbe(bulk: Pick<BulkDatabase, 'transaction'>, instanceId: string) {
  let seen: BulkValue | undefined;
  return async (): Promise<void> => {
    const unseen = seen === undefined ? WRITE : Prisma.sql`${WRITE} AND "writes" = ${seen}`;
    const probing = bulk.transaction(async (tx) => {
      const [, read] = await tx.run(unseen, READ);
      return read?.rows[0] ?? [];
    });
    const [writes, instance] = await probing.catch((error: unknown) => {
      if (!lacksTable(error)) throw error;
      throw new StorageError('REPLACED', { particular: 'its tables are missing', cause: error });
    });
    if (instance !== instanceId) {
      throw new StorageError('REPLACED', { particular: 'it is another database' });
    }
    // Both drivers return large integers as a type other than number.
    seen = BigInt(String(writes));
  };
}

/** The tables are created before anything else, so a database without them is another one. */
function lacksTable(error: unknown): boolean {
  for (const each of errorChain(error)) {
    // undefined_table
    if (textCodesOf(each).includes('42P01')) return true;
    if (typeof each.message === 'string' && each.message.startsWith('no such table')) return true;
  }
  return false;
}
