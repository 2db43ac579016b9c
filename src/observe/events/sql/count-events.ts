import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../../contract/call/namespace.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';
import { readNumber } from '../../../storage/database/rows.js';
import { allOf } from '../../../storage/database/text.js';
import { conditionsOf, type EventFilter } from '../store/event-filter.js';
import { sqlConditionsOf } from './event-conditions.js';
import { totalOf } from './namespace-events.js';
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
export async function countEvents(bulk: Pick<BulkDatabase, 'read'>, filter: EventFilter): Promise<number> {
  const { namespace = DEFAULT_NAMESPACE, agent_name: agent } = filter;
  if (isWhole(filter)) return readNumber(bulk, totalOf(namespace));
  // The rest of all events: so an index without agents still answers alone while there are no other namespaces.
  const isRest = namespace !== 'all' && namespace.isDefault && !agent;
  const conditions = sqlConditionsOf(filter, isRest);
  if (conditions === 'nothing') return 0;
  const where = allOf(conditions);
  const parts = isRest ? 2 : 1;
  const read = (query: Prisma.Sql) => bulk.read('search', query);
  const generation = () => readNumber(bulk, Prisma.sql`SELECT ${GENERATION}`);
  for (;;) {
    const before = await generation();
    const tables = [OPEN_TABLE, ...(await closedSegments(bulk)).map(tableOf)];
    const counted = tables.length * parts * where.values.length > MAX_ARGUMENTS ? [ALL_EVENTS] : tables;
    const counts = counted.map(
      (table) =>
        Prisma.sql`(SELECT COUNT(*) FROM ${table} WHERE ${where})${isRest ? withoutOthers(table, where) : Prisma.empty}`,
    );
    try {
      const [row] = await read(Prisma.sql`SELECT ${GENERATION}, ${Prisma.join(counts, ' + ')}`);
      if (Number(row?.[0]) === before) return Number(row?.[1] ?? 0);
    } catch (error) {
      // A table may have been deleted meanwhile.
      if ((await generation()) === before) throw error;
    }
  }
}

/** Subtracts the events of the other namespaces, which are found by the index of agents. */
function withoutOthers(table: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql` - COALESCE((
    SELECT SUM((SELECT COUNT(*) FROM ${table}
      WHERE "agent_name" >= "other"."namespace" || '/' AND "agent_name" < "other"."namespace" || '0' AND ${where}))
    FROM "event_namespaces" AS "other" WHERE "other"."events" > 0), 0)`;
}
