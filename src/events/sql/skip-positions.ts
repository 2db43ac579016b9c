import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../database/bulk.js';

/**
 * Moves the position in a table with the state of an event log on, and notes the positions in between as those of a
 * replaced state of the database. Done again before the next event is stored, it makes them more.
 * @param count Positions to skip at least.
 * @param least The position to reach at least.
 */
export async function skipPositions(
  table: 'event_log' | 'event_store_lease',
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
