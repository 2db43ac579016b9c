import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import type { DemandedLabel } from '../agents/agent-labels.js';
import { type NamedAgent, namedByKey } from '../agents/named-agent.js';

/** The agents that a policy should be given to by its labels, or taken from. */
export interface AgentsByLabels {
  readonly missing: NamedAgent[];
  readonly stale: NamedAgent[];
}

/** Agents of the namespace with all labels of a policy of it; none if it has no labels. */
function matchingAgents(policyId: number, scope: Scoped): Prisma.Sql {
  return Prisma.sql`
    SELECT h."agent_id" FROM "policy_labels" w
    JOIN "policies" o ON o."id" = w."policy_id" AND ${inNamespace('o', scope)}
    JOIN "agent_labels" h ON h."name" = w."name" AND h."value" = w."value"
    JOIN "agents" b ON b."id" = h."agent_id" AND ${inNamespace('b', scope)}
    WHERE w."policy_id" = ${policyId} GROUP BY h."agent_id"
    HAVING COUNT(*) = (SELECT COUNT(*) FROM "policy_labels" WHERE "policy_id" = ${policyId})`;
}

/**
 * Labels of policies of a namespace, and the agents that have them. Needs the client of a mutation. Rejects with a
 * `ServiceError` only.
 */
export function createPolicyLabelStore(scope: Scoped) {
  const { client: tx, namespace } = scope;
  return {
    /** The policy must exist. */
    write: (policyId: number, labels: readonly DemandedLabel[]): Promise<void> =>
      withServiceErrors(async () => {
        const where = { id: policyId, namespace: namespace.name };
        await tx.policy.findUniqueOrThrow({ where, select: { id: true } });
        await tx.policyLabel.deleteMany({ where: { policyId } });
        const rows = labels.map(({ name, value }) => ({ policyId, name, value }));
        if (rows.length > 0) await tx.policyLabel.createMany({ data: rows });
      }),

    /** By name. */
    agentsByLabels: (policyId: number): Promise<AgentsByLabels> =>
      withServiceErrors(async () => {
        const having = Prisma.sql`
          SELECT "agent_id" FROM "agent_policies" WHERE "policy_id" = ${policyId} AND "by_labels" = ${true}`;
        const named = async (found: Prisma.Sql, others: Prisma.Sql) => {
          const rows = await tx.$queryRaw<{ name: string }[]>(Prisma.sql`
            SELECT a."name" FROM "agents" a
            WHERE ${inNamespace('a', scope)} AND a."id" IN (${found}) AND a."id" NOT IN (${others})
            ORDER BY a."name"`);
          return rows.map(({ name }) => namedByKey(name));
        };
        const matching = matchingAgents(policyId, scope);
        return { missing: await named(matching, having), stale: await named(having, matching) };
      }),

    /** Gives the policy to the agents with its labels. */
    give: (policyId: number): Promise<void> =>
      withServiceErrors(async () => {
        await tx.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id", "direct", "by_labels")
          SELECT "id", CAST(${policyId} AS INTEGER), ${false}, ${true} FROM "agents"
          WHERE "id" IN (${matchingAgents(policyId, scope)})
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "by_labels" = ${true}`;
      }),

    /** Takes it from those that have it by labels and lack its labels, unless it was given to them directly, too. */
    take: (policyId: number): Promise<void> =>
      withServiceErrors(async () => {
        const stale = Prisma.sql`
          "policy_id" = ${policyId} AND "by_labels" = ${true}
          AND "agent_id" IN (SELECT a."id" FROM "agents" a WHERE ${inNamespace('a', scope)})
          AND "agent_id" NOT IN (${matchingAgents(policyId, scope)})`;
        await tx.$executeRaw`DELETE FROM "agent_policies" WHERE ${stale} AND "direct" = ${false}`;
        await tx.$executeRaw`UPDATE "agent_policies" SET "by_labels" = ${false} WHERE ${stale}`;
      }),

    /** The ids of those of the agents that have its labels. */
    matching: (policyId: number, agents: readonly { readonly id: number }[]): Promise<Set<number>> =>
      withServiceErrors(async () => {
        const rows = await tx.$queryRaw<{ id: number }[]>(Prisma.sql`
          SELECT "id" FROM "agents" WHERE "id" IN (${Prisma.join(agents.map(({ id }) => id))})
            AND "id" IN (${matchingAgents(policyId, scope)})`);
        return new Set(rows.map(({ id }) => Number(id)));
      }),
  };
}
