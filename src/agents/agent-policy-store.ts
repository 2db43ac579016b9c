import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';

interface AgentId {
  readonly id: number;
}

function idsOf(agents: readonly AgentId[]): Prisma.Sql {
  return Prisma.join(agents.map(({ id }) => id));
}

/** A policy that an agent has by its labels stays when it loses them, once it is given to the agent itself. */
const MAKE_DIRECT = Prisma.sql`
  ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "direct" = ${true} WHERE "agent_policies"."direct" = ${false}`;

/** Policies of agents. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createAgentPolicyStore(client: DbClient) {
  return {
    /** False when the policy was already given to the agent, otherwise than by labels. Both must exist. */
    add: (agentId: number, policyId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const added = await client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id") VALUES (${agentId}, ${policyId})
          ${MAKE_DIRECT}`;
        return added > 0;
      }),

    /** False when the agent did not have the policy. */
    remove: (agentId: number, policyId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const { count } = await client.agentPolicy.deleteMany({ where: { agentId, policyId } });
        return count > 0;
      }),

    /** The ids of those of the agents that have the policy, or of those that it was given to otherwise than by labels. */
    owners: (
      agents: readonly AgentId[],
      policyId: number,
      given: 'anyhow' | 'directly',
    ): Promise<Set<number>> =>
      withServiceErrors(async () => {
        const direct = given === 'directly' ? { direct: true } : {};
        const where = { policyId, agentId: { in: agents.map(({ id }) => id) }, ...direct };
        const rows = await client.agentPolicy.findMany({ where, select: { agentId: true } });
        return new Set(rows.map(({ agentId }) => agentId));
      }),

    /** Gives the policy to agents, and returns the number of those that it was not given to before, or only by labels. */
    addAll: (agents: readonly AgentId[], policyId: number): Promise<number> =>
      withServiceErrors(
        () => client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id")
          SELECT "id", CAST(${policyId} AS INTEGER) FROM "agents" WHERE "id" IN (${idsOf(agents)})
          ${MAKE_DIRECT}`,
      ),

    /** Removes the policy from agents, and returns the number of those that had it. */
    removeFrom: (agents: readonly AgentId[], policyId: number): Promise<number> =>
      withServiceErrors(
        () => client.$executeRaw`
          DELETE FROM "agent_policies" WHERE "policy_id" = ${policyId} AND "agent_id" IN (${idsOf(agents)})`,
      ),

    /**
     * Removes all policies of an agent except `keep`, those for every agent and those that it has by its labels, and
     * returns their number.
     */
    removeAll: (agentId: number, keep?: number): Promise<number> =>
      withServiceErrors(async () => {
        const others = keep === undefined ? {} : { policyId: { not: keep } };
        const removable = { agentId, byLabels: false, policy: { everyAgent: false }, ...others };
        const { count } = await client.agentPolicy.deleteMany({ where: removable });
        return count;
      }),

    /** The ids of the policies of each agent, ascending; an agent without any is absent. */
    policyIdsOf: (agentIds: readonly number[]): Promise<Map<number, number[]>> =>
      withServiceErrors(async () => {
        const found = new Map<number, number[]>();
        if (agentIds.length === 0) return found;
        const rows = await client.agentPolicy.findMany({
          where: { agentId: { in: [...agentIds] } },
          orderBy: { policyId: 'asc' },
        });
        for (const { agentId, policyId } of rows) {
          const known = found.get(agentId);
          if (known === undefined) found.set(agentId, [policyId]);
          else known.push(policyId);
        }
        return found;
      }),

    /** Number of agents with a policy whose clients never requested controls. */
    agentsThatNeverAsked: (policyId: number): Promise<number> =>
      withServiceErrors(() =>
        client.agent.count({ where: { policies: { some: { policyId } }, controlsAskedAtMs: null } }),
      ),
  };
}
