import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import type { BulkDatabase } from '../../database/bulk.js';
import { allOf } from '../../database/text.js';
import { conditionsOf, type EventFilter } from '../store/event-filter.js';
import { HAS_OTHERS, type NamespaceCounts, totalOf } from './namespace-events.js';
import { readNumber } from './read-number.js';
import { ALL_EVENTS, OPEN_TABLE, tableOf } from './segment-tables.js';
import { closedSegments } from './segments.js';

const GENERATION = Prisma.sql`(SELECT "generation" FROM "event_log" WHERE "id" = 1)`;

/** Fewer than either database accepts. */
const MAX_ARGUMENTS = 10_000;

/** Whether a filter lets all events of its namespace through. */
export function isWhole(filter: EventFilter): boolean {
  const conditions = conditionsOf(filter);
  return conditions !== 'nothing' && conditions.every(({ test }) => test === 'NAMESPACE');
}

/**
 * Counts the events that match a filter, table by table; the number of all events of a namespace is kept. Through the
 * view SQLite takes three times as long. All are counted in one statement, so in one consistent view; it is repeated
 * when the tables were changed meanwhile.
 */
export async function countEvents(
  bulk: Pick<BulkDatabase, 'read'>,
  namespaces: NamespaceCounts,
  filter: EventFilter,
): Promise<number> {
  if (isWhole(filter)) return readNumber(bulk, totalOf(filter.namespace ?? DEFAULT_NAMESPACE));
  const read = (query: Prisma.Sql) => bulk.read('search', query);
  const generation = () => readNumber(bulk, Prisma.sql`SELECT ${GENERATION}`);
  return namespaces.count(filter, async (conditions) => {
    const where = allOf(conditions);
    const before = await generation();
    const tables = [OPEN_TABLE, ...(await closedSegments(bulk)).map(tableOf)];
    const counted = tables.length * where.values.length > MAX_ARGUMENTS ? [ALL_EVENTS] : tables;
    const counts = counted.map((table) => Prisma.sql`(SELECT COUNT(*) FROM ${table} WHERE ${where})`);
    try {
      const [row] = await read(
        Prisma.sql`SELECT ${GENERATION}, ${Prisma.join(counts, ' + ')}, ${HAS_OTHERS}`,
      );
      if (Number(row?.[0]) === before) return [Number(row?.[1] ?? 0), Number(row?.[2] ?? 0)];
    } catch (error) {
      // A table may have been deleted meanwhile.
      if ((await generation()) === before) throw error;
    }
    return undefined;
  });
}
