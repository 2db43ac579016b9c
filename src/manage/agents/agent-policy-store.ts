import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

interface AgentId {
  readonly id: number;
}

function idsOf(agents: readonly AgentId[]): Prisma.Sql {
  return Prisma.join(agents.map(({ id }) => id));
}

/** A policy that an agent has by its labels stays when it loses them, once it is given to the agent itself. */
const MAKE_DIRECT = Prisma.sql`
  ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "direct" = ${true} WHERE "agent_policies"."direct" = ${false}`;

/** Policies of agents of a namespace. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createAgentPolicyStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const addAll = (agents: readonly AgentId[], policyId: number): Promise<number> =>
    withServiceErrors(
      () => client.$executeRaw`
        INSERT INTO "agent_policies" ("agent_id", "policy_id")
        SELECT a."id", p."id" FROM "agents" a, "policies" p
        WHERE a."id" IN (${idsOf(agents)}) AND ${inNamespace('a', scope)}
          AND p."id" = ${policyId} AND ${inNamespace('p', scope)}
        ${MAKE_DIRECT}`,
    );
  return {
    /**
     * False when the policy was already given to the agent, otherwise than by labels, or one of them does not exist in
     * the namespace.
     */
    add: async (agentId: number, policyId: number): Promise<boolean> =>
      (await addAll([{ id: agentId }], policyId)) > 0,

    /** False when the agent did not have the policy. */
    remove: (agentId: number, policyId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const where = { agentId, policyId, agent: of };
        const { count } = await client.agentPolicy.deleteMany({ where });
        return count > 0;
      }),

    /** Takes a policy from all agents that it was given to; those keep it that have it by their labels. */
    withdrawFromAll: (policyId: number): Promise<void> =>
      withServiceErrors(async () => {
        const where = { policyId, agent: of };
        await client.agentPolicy.deleteMany({ where: { ...where, byLabels: false } });
        await client.agentPolicy.updateMany({ where, data: { direct: false } });
      }),

    /** The ids of those of the agents that have the policy, or of those that it was given to otherwise than by labels. */
    owners: (
      agents: readonly AgentId[],
      policyId: number,
      given: 'anyhow' | 'directly',
    ): Promise<Set<number>> =>
      withServiceErrors(async () => {
        const direct = given === 'directly' ? { direct: true } : {};
        const where = { policyId, agentId: { in: agents.map(({ id }) => id) }, agent: of, ...direct };
        const rows = await client.agentPolicy.findMany({ where, select: { agentId: true } });
        return new Set(rows.map(({ agentId }) => agentId));
      }),

    /** Gives the policy to agents, and returns the number of those that it was not given to before, or only by labels. */
    addAll,

    /** Removes the policy from agents, and returns the number of those that had it. */
    removeFrom: (agents: readonly AgentId[], policyId: number): Promise<number> =>
      withServiceErrors(
        () => client.$executeRaw`
          DELETE FROM "agent_policies" WHERE "policy_id" = ${policyId} AND "agent_id" IN (
            SELECT a."id" FROM "agents" a WHERE a."id" IN (${idsOf(agents)}) AND ${inNamespace('a', scope)})`,
      ),

    /**
     * Removes all policies of an agent except `keep`, those for every agent and those that it has by its labels, and
     * returns their number.
     */
    removeAll: (agentId: number, keep?: number): Promise<number> =>
      withServiceErrors(async () => {
        const others = keep === undefined ? {} : { policyId: { not: keep } };
        const removable = { agentId, byLabels: false, agent: of, policy: { everyAgent: false }, ...others };
        const { count } = await client.agentPolicy.deleteMany({ where: removable });
        return count;
      }),

    /** The ids of the policies of each agent, ascending; an agent without any is absent. */
    policyIdsOf: (agentIds: readonly number[]): Promise<Map<number, number[]>> =>
      withServiceErrors(async () => {
        const found = new Map<number, number[]>();
        if (agentIds.length === 0) return found;
        const rows = await client.agentPolicy.findMany({
          where: { agentId: { in: [...agentIds] }, agent: of },
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
        client.agent.count({ where: { policies: { some: { policyId } }, controlsAskedAtMs: null, ...of } }),
      ),
  };
}
