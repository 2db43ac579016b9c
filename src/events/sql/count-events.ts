import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../database/bulk.js';
import { allOf } from '../../database/text.js';
import { readNumber } from './read-number.js';
import { ALL_EVENTS, OPEN_TABLE, tableOf } from './segment-tables.js';
import { closedSegments } from './segments.js';

const GENERATION = Prisma.sql`(SELECT "generation" FROM "event_log" WHERE "id" = 1)`;

/** Fewer than either database accepts. */
const MAX_ARGUMENTS = 10_000;

/**
 * Counts the events that satisfy all conditions, table by table; the number of all events is kept. Through the view SQLite takes three times as long. All
 * are counted in one statement, so in one consistent view; it is repeated when the tables were changed meanwhile.
 */
export async function countEvents(
  bulk: Pick<BulkDatabase, 'read'>,
  conditions: readonly Prisma.Sql[],
): Promise<number> {
  if (conditions.length === 0)
    return readNumber(bulk, Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`);
  const read = (query: Prisma.Sql) => bulk.read('search', query);
  const generation = () => readNumber(bulk, Prisma.sql`SELECT ${GENERATION}`);
  const where = allOf(conditions);
  for (;;) {
    const before = await generation();
    const tables = [OPEN_TABLE, ...(await closedSegments(bulk)).map(tableOf)];
    const counted = tables.length * where.values.length > MAX_ARGUMENTS ? [ALL_EVENTS] : tables;
    const counts = counted.map((table) => Prisma.sql`(SELECT COUNT(*) FROM ${table} WHERE ${where})`);
    try {
      const [row] = await read(Prisma.sql`SELECT ${GENERATION}, ${Prisma.join(counts, ' + ')}`);
      if (Number(row?.[0]) === before) return Number(row?.[1] ?? 0);
    } catch (error) {
      // A table may have been deleted meanwhile.
      if ((await generation()) === before) throw error;
    }
  }
}
