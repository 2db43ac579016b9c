import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkValue } from '../bulk.js';
import { StorageError } from './storage-state.js';

const WRITE = Prisma.sql`UPDATE "storage_probe" SET "writes" = "writes" + 1 WHERE "id" = 1`;
const READ = Prisma.sql`
  SELECT p."writes", s."instance_id" FROM "storage_probe" p, "service_state" s WHERE p."id" = 1 AND s."id" = 1`;

/**
 * Creates the probe: a small write that is committed. It rejects when that fails, and with a `StorageError` when this is
 * another database than `instanceId` says. Of several processes on one database, one writes: the others are content with
 * a write of another process since they looked last.
 */
export function createWriteProbe(bulk: Pick<BulkDatabase, 'transaction'>, instanceId: string) {
  let seen: BulkValue | undefined;
  return async (): Promise<void> => {
    const unseen = seen === undefined ? WRITE : Prisma.sql`${WRITE} AND "writes" = ${seen}`;
    const [writes, instance] = await bulk.transaction(async (tx) => {
      const [, read] = await tx.run(unseen, READ);
      return read?.rows[0] ?? [];
    });
    if (instance !== instanceId) {
      throw new StorageError('REPLACED', { particular: 'it is another database, or an empty one' });
    }
    // Both drivers give large integers as something else than a number.
    seen = BigInt(String(writes));
  };
}
