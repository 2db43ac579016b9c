import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE, namespaceOfKey } from '../../../contract/call/namespace.js';
import type { BulkRow, BulkTransaction } from '../../../storage/database/bulk.js';
import type { JsonElements } from '../../../storage/database/json-elements.js';
import type { EventFilter } from '../store/event-filter.js';
import type { EventScope } from '../store/event-keys.js';
import { sqlConditionsOf } from './event-conditions.js';

/** Whether a namespace other than `default` has events: 1 or 0. */
export const HAS_OTHERS = Prisma.sql`
  CASE WHEN EXISTS (SELECT 1 FROM "event_namespaces" WHERE "events" > 0) THEN 1 ELSE 0 END`;

/** The number of all events of a namespace, which is kept. */
export function totalOf(namespace: EventScope): Prisma.Sql {
  const all = Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`;
  if (namespace === 'all') return all;
  if (namespace.isDefault)
    return Prisma.sql`SELECT (${all}) - COALESCE((SELECT SUM("events") FROM "event_namespaces"), 0)`;
  return Prisma.sql`
    SELECT COALESCE((SELECT "events" FROM "event_namespaces" WHERE "namespace" = ${namespace.name}), 0)`;
}

/**
 * Counts up to a limit by conditions that an index alone can answer: it has no agent. While no other namespace has events, those of
 * `default` are counted without the condition on the agent. The statement that counts tells in its own view whether
 * that is so; if it is not, it is repeated with the condition.
 */
export interface NamespaceCounts {
  /**
   * Calls `read` with the conditions of a filter. It resolves with a number and the value of `HAS_OTHERS` in the same
   * statement.
   */
  count(
    filter: EventFilter,
    read: (conditions: readonly Prisma.Sql[]) => Promise<readonly [count: number, hasOthers: number]>,
  ): Promise<number>;
}

export function createNamespaceCounts(): NamespaceCounts {
  /** Only saves the first attempt: what it was last does not decide. */
  let hadOthers = false;
  return {
    async count(filter, read) {
      const { namespace = DEFAULT_NAMESPACE } = filter;
      const isDefault = namespace !== 'all' && namespace.isDefault;
      for (;;) {
        const isAssumed = isDefault && !hadOthers;
        const conditions = sqlConditionsOf(filter, isAssumed);
        if (conditions === 'nothing') return 0;
        const [count, hasOthers] = await read(conditions);
        if (isDefault) hadOthers = hasOthers === 1;
        if (!isAssumed || !hadOthers) return count;
      }
    },
  };
}

/** Adds numbers of events to those of their namespaces, by the keys of agents; `default` has no number of its own. */
export async function countByNamespace(
  tx: BulkTransaction,
  elements: JsonElements,
  agents: readonly (readonly [key: string, events: number])[],
): Promise<void> {
  const sums = new Map<string, number>();
  for (const [key, events] of agents) {
    const namespace = namespaceOfKey(key);
    if (namespace !== DEFAULT_NAMESPACE.name) sums.set(namespace, (sums.get(namespace) ?? 0) + events);
  }
  if (sums.size === 0) return;
  await tx.run(Prisma.sql`
    INSERT INTO "event_namespaces" ("namespace", "events")
    SELECT "item" ->> 0, CAST("item" ->> 1 AS BIGINT) FROM ${elements(JSON.stringify([...sums]))} WHERE 1 = 1
    ON CONFLICT ("namespace") DO UPDATE SET "events" = "event_namespaces"."events" + excluded."events"`);
}

/** The agents of other namespaces among the events of a table that satisfy a condition, with the numbers of these. */
export async function agentsOfOthers(
  tx: BulkTransaction,
  table: Prisma.Sql,
  where: Prisma.Sql,
): Promise<[key: string, events: number][]> {
  const [found] = await tx.run(Prisma.sql`
    SELECT "agent_name", COUNT(*) FROM ${table} WHERE ${where} AND "agent_name" LIKE '%/%' GROUP BY 1`);
  return (found?.rows ?? []).map(([key, events]: BulkRow) => [String(key), Number(events)]);
}
