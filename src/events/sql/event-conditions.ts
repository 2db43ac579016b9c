import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { allOf, FALSE } from '../../database/text.js';
import { readFacets } from '../store/event-facets.js';
import { conditionsOf, type EventCondition, type EventFilter } from '../store/event-filter.js';
import { idKey } from './event-row.js';
import { IS_DENIAL } from './segment-tables.js';

/** All conditions of a filter for the database; or that no event can match it. */
export function sqlConditionsOf(filter: EventFilter): Prisma.Sql[] | 'nothing' {
  const conditions = conditionsOf(filter);
  return conditions === 'nothing' ? 'nothing' : conditions.map(sqlOf);
}

/** The one condition that stands for a filter. */
export function conditionOf(filter: EventFilter): Prisma.Sql {
  const conditions = sqlConditionsOf(filter);
  return conditions === 'nothing' ? FALSE : allOf(conditions);
}

function sqlOf(condition: EventCondition): Prisma.Sql {
  const { test } = condition;
  const column = Prisma.raw(`"${condition.column}"`);
  switch (test) {
    case '=':
      return Prisma.sql`${keyOf(condition.column, condition.value)}${column} = ${condition.value}`;
    case 'IN': {
      const isIn = Prisma.sql`${column} IN (${Prisma.join([...condition.values])})`;
      if (condition.column !== 'facets' || !condition.values.every(isDenial)) return isIn;
      // The database does not infer it from the list, and it has an index of denials.
      return Prisma.sql`${isIn} AND ${IS_DENIAL}`;
    }
    case '>=':
    case '<=':
      return Prisma.sql`${column} ${Prisma.raw(test)} ${condition.value}`;
    default:
      return Prisma.sql`${column} ${Prisma.raw(test)}`;
  }
}

/** What finds an id of any length by an index. */
function keyOf(column: string, id: string): Prisma.Sql {
  if (column === 'trace_id') return Prisma.sql`"trace_key" = ${idKey(id)} AND `;
  // Rows that are older than the key column have none.
  if (column === 'span_id') return Prisma.sql`("span_key" = ${idKey(id)} OR "span_key" IS NULL) AND `;
  return Prisma.empty;
}

/** The same as `IS_DENIAL`. */
function isDenial(facets: number): boolean {
  const { matched, action } = readFacets(facets);
  return matched && action === 'deny';
}
