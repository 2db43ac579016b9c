import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';

/** The tables whose single row is the state of an event log: of the one in this database, and of one in ClickHouse. */
type LogTable = 'event_log' | 'event_store_lease';

/**
 * Claims the deletion of old events, unless another process has done so within some time. A claim far in the future is due
 * to a wrong clock.
 */
export function claimPruning(
  table: LogTable,
  bulk: Pick<BulkDatabase, 'transaction'>,
  nowMs: number,
  claimMs: number,
): Promise<boolean> {
  return bulk.transaction(async (tx) => {
    const [claimed] = await tx.run(Prisma.sql`
      UPDATE ${Prisma.raw(`"${table}"`)} SET "pruning_at_ms" = ${BigInt(nowMs)} WHERE "id" = 1
        AND ("pruning_at_ms" <= ${BigInt(nowMs - claimMs)} OR "pruning_at_ms" > ${BigInt(nowMs + claimMs)})`);
    return claimed?.changes === 1;
  });
}

/**
 * Moves the position in a table with the state of an event log on, and notes the positions in between as those of a
 * replaced state of the database. Done again before the next event is stored, it makes them more.
 * @param count Positions to skip at least.
 * @param least The position to reach at least.
 */
export async function skipPositions(
  table: LogTable,
  bulk: Pick<BulkDatabase, 'transaction'>,
  count: number,
  least: number,
): Promise<void> {
  const to = Prisma.sql`
    CASE WHEN "position" + ${count} > ${least} THEN "position" + ${count} ELSE ${least} END`;
  await bulk.transaction((tx) =>
    tx.run(Prisma.sql`
      UPDATE ${Prisma.raw(`"${table}"`)} SET
        "restored_from" = CASE WHEN "restored_to" = "position" THEN "restored_from" ELSE "position" END,
        "restored_to" = ${to},
        "position" = ${to}
      WHERE "id" = 1`),
  );
}
