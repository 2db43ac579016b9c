import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkTransaction } from '../../storage/database/bulk.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { columns, from, nullable, number, type ReadRow, select, text } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { grouped } from './grouped.js';

const STORED = {
  agentId: number,
  /** Empty for any point. */
  point: text,
  intervalS: number,
  /** When it was set. */
  sinceS: number,
  /** When the agent was found to be overdue; null while it is not. */
  overdueS: nullable(number),
};
const EXPECTATION = columns(STORED);

/** When the agent of an expectation `e` was last heard at its point. */
export const HEARD_S = from(
  Prisma.sql`(SELECT MAX(c."last_seen_s") FROM "agent_coverage" c
    WHERE c."agent_id" = e."agent_id" AND (e."point" = '' OR c."point" = e."point"))`,
  nullable(number),
);

const WATCHED = columns(
  {
    ...STORED,
    /** Key of the agent. */
    agentKey: from(Prisma.sql`a."name"`, text),
    namespace: from(Prisma.sql`a."namespace"`, text),
    /** When the agent was last heard at the point; null if it never was. */
    heardS: HEARD_S,
  },
  'e',
);

/** A stored expectation. Times are in seconds since 1970. */
export type Expectation = ReadRow<typeof EXPECTATION>;
/** How often an agent is expected to be heard at a point. */
export type WantedExpectation = Pick<Expectation, 'point' | 'intervalS'>;
/** An expectation with what is known of its agent. */
export type WatchedExpectation = ReadRow<typeof WATCHED>;

/** Expectations of agents of the namespace. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createExpectationStore({ client, namespace }: Scoped) {
  const of = (agentId: number) => ({ agentId, agent: { namespace: namespace.name } });
  return {
    /** By agent, sorted by point. */
    find: (agentIds: readonly number[]): Promise<Map<number, Expectation[]>> =>
      withServiceErrors(async () => {
        const rows = await client.agentExpectation.findMany({
          where: { agentId: { in: [...agentIds] }, agent: { namespace: namespace.name } },
          orderBy: { point: 'asc' },
        });
        return grouped(rows.map(EXPECTATION.of), ({ agentId }) => agentId);
      }),

    /** Sets one, which then begins anew. Does nothing for an agent that is not in the namespace. */
    set: (agentId: number, { point, intervalS }: WantedExpectation, nowS: number): Promise<void> =>
      withServiceErrors(async () => {
        const agents = await client.agent.count({ where: { id: agentId, namespace: namespace.name } });
        if (agents === 0) return;
        await client.agentExpectation.deleteMany({ where: { ...of(agentId), point } });
        const data = { agentId, point, intervalS: BigInt(intervalS), sinceS: BigInt(nowS) };
        await client.agentExpectation.create({ data });
      }),

    remove: (agentId: number, points: readonly string[]): Promise<void> =>
      withServiceErrors(async () => {
        await client.agentExpectation.deleteMany({ where: { ...of(agentId), point: { in: [...points] } } });
      }),
  };
}

/** All expectations of all namespaces, with when their agents were last heard. */
export function watchedExpectations({
  bulk,
}: Pick<Database, 'bulk'>): Promise<readonly WatchedExpectation[]> {
  return select(WATCHED, bulk, 'statistics')`
    FROM "agent_expectations" e JOIN "agents" a ON a."id" = e."agent_id"`;
}

/** Says that an agent is overdue since a time, or is not with null. False if another process did so before. */
export async function setOverdue(
  tx: BulkTransaction,
  { agentId, point, overdueS }: Pick<WatchedExpectation, 'agentId' | 'point' | 'overdueS'>,
  nextS: number | null,
): Promise<boolean> {
  const [updated] = await tx.run(Prisma.sql`
    UPDATE "agent_expectations" SET "overdue_s" = CAST(${nextS === null ? null : BigInt(nextS)} AS BIGINT)
    WHERE "agent_id" = ${agentId} AND "point" = ${point}
      AND ${overdueS === null ? Prisma.sql`"overdue_s" IS NULL` : Prisma.sql`"overdue_s" = ${BigInt(overdueS)}`}`);
  return updated?.changes === 1;
}
