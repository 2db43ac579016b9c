import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Namespace } from '../../../contract/call/namespace.js';
import { allOf, FALSE } from '../../../storage/database/text.js';
import { readFacets } from '../store/event-facets.js';
import { conditionsOf, type EventCondition, type EventFilter } from '../store/event-filter.js';
import { idKey } from './event-row.js';
import { IS_DENIAL } from './segment-tables.js';

/**
 * All conditions of a filter for the database; or that no event can match it. Without the one on the namespace if all
 * events are of the one that is asked for (`isOnly`).
 */
export function sqlConditionsOf(filter: EventFilter, isOnly = false): Prisma.Sql[] | 'nothing' {
  const conditions = conditionsOf(filter);
  if (conditions === 'nothing') return 'nothing';
  return conditions.filter(({ test }) => !(isOnly && test === 'NAMESPACE')).map(sqlOf);
}

/**
 * Condition that an agent, by its key, is one of a namespace. It is no reason to use an index of agents: those of times
 * find what a search shows.
 */
export function inNamespace(namespace: Namespace): Prisma.Sql {
  // PostgreSQL knows from its statistics how many that are.
  if (namespace.isDefault) return Prisma.sql`"agent_name" NOT LIKE '%/%'`;
  return Prisma.sql`substr("agent_name", 1, ${namespace.prefix.length}) = ${namespace.prefix}`;
}

/** The same by the range of its keys, which an index of agents has. Their column has the collation "C". */
function inRange({ prefix }: Namespace): Prisma.Sql {
  return Prisma.sql`"agent_name" >= ${prefix} AND "agent_name" < ${`${prefix.slice(0, -1)}0`}`;
}

/** The one condition that stands for a filter. */
export function conditionOf(filter: EventFilter): Prisma.Sql {
  const conditions = sqlConditionsOf(filter);
  return conditions === 'nothing' ? FALSE : allOf(conditions);
}

function sqlOf(condition: EventCondition): Prisma.Sql {
  const { test } = condition;
  if (test === 'NAMESPACE') {
    const { namespace } = condition;
    return namespace.isDefault ? inNamespace(namespace) : inRange(namespace);
  }
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
