import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { AgentKey } from '../contract/call/namespace.js';
import { withServiceErrors } from '../database/errors.js';
import { inPortions } from '../database/in-portions.js';
import { inNamespace, type Scoped } from '../database/scoped.js';
import { assertStorable } from '../database/text.js';

/** An agent, or a policy, and what it is to have, or has no longer. */
export type Pair = readonly [ownerId: number, memberId: number];

/** An agent without its registration. */
export interface LinkedAgent {
  readonly id: number;
  readonly key: AgentKey;
}

/**
 * Statements over many policies, agents and links of a namespace: few for thousands of objects, because a mutation blocks all
 * others. Writing needs the client of a mutation. Rejects with a `ServiceError` only.
 */
export function createBulkStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const each = <T>(items: readonly T[], work: (portion: T[]) => Promise<unknown>): Promise<void> =>
    withServiceErrors(async () => {
      await inPortions(items, async (portion) => {
        await work(portion);
        return [];
      });
    });
  return {
    /** Creates policies; the names must be free. Returns their ids by name. */
    insertPolicies: (names: readonly string[], nowMs: number): Promise<Map<string, number>> =>
      withServiceErrors(async () => {
        const plain = new Map(names.map((name) => [namespace.keyOf(name), name]));
        const rows = await inPortions([...plain.keys()], (keys) =>
          client.policy.createManyAndReturn({
            data: keys.map((name) => ({ name, createdAtMs: BigInt(nowMs), ...of })),
            select: { id: true, name: true },
          }),
        );
        return new Map(rows.map(({ id, name }) => [plain.get(name) ?? name, id]));
      }),

    removePolicies: (ids: readonly number[]): Promise<void> =>
      each(ids, async (portion) => {
        const links = { where: { policyId: { in: portion }, policy: of } };
        await client.agentPolicy.deleteMany(links);
        await client.policyControl.deleteMany(links);
        await client.policy.deleteMany({ where: { id: { in: portion }, ...of } });
      }),

    /** The agents of these names, by name. */
    agents: (names: readonly string[]): Promise<Map<string, LinkedAgent>> =>
      withServiceErrors(async () => {
        const plain = new Map(names.map((name) => [namespace.agentKey(name) as string, name]));
        const rows = await inPortions([...plain.keys()], (keys) =>
          client.agent.findMany({ where: { name: { in: keys }, ...of }, select: { id: true, name: true } }),
        );
        return new Map(rows.map(({ id, name }) => [plain.get(name) ?? name, { id, key: name as AgentKey }]));
      }),

    /** Registers agents without labels; the names must be free. They get the policies for every agent. */
    insertAgents: (agents: readonly { readonly name: string; readonly data: string }[], nowMs: number) =>
      each(agents, (portion) => {
        const data = portion.map(({ name, data: registration }) => {
          assertStorable(registration);
          const key = namespace.agentKey(name);
          return { name: key, data: registration, createdAtMs: BigInt(nowMs), labelsVersion: 1n, ...of };
        });
        return client.agent.createMany({ data });
      }),

    addMembers: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          WITH w ("owner", "member") AS (VALUES ${rowsOf(portion)})
          INSERT INTO "policy_controls" ("policy_id", "control_id")
          SELECT p."id", c."id" FROM w, "policies" p, "controls" c
          WHERE p."id" = w."owner" AND ${inNamespace('p', scope)} AND c."id" = w."member" AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`,
      ),

    removeMembers: (pairs: readonly Pair[]): Promise<void> =>
      each(pairs, (portion) => {
        const OR = portion.map(([policyId, controlId]) => ({ policyId, controlId }));
        return client.policyControl.deleteMany({ where: { OR, policy: of } });
      }),

    addLinks: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          WITH w ("owner", "member") AS (VALUES ${rowsOf(portion)})
          INSERT INTO "agent_controls" ("agent_id", "control_id")
          SELECT a."id", c."id" FROM w, "agents" a, "controls" c
          WHERE a."id" = w."owner" AND ${inNamespace('a', scope)} AND c."id" = w."member" AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`,
      ),

    removeLinks: (pairs: readonly Pair[]): Promise<void> =>
      each(pairs, (portion) => {
        const OR = portion.map(([agentId, controlId]) => ({ agentId, controlId }));
        return client.agentControl.deleteMany({ where: { OR, agent: of } });
      }),

    /** Gives policies to agents themselves; one that an agent has by its labels stays when it loses them. */
    givePolicies: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          WITH w ("owner", "member") AS (VALUES ${rowsOf(portion)})
          INSERT INTO "agent_policies" ("agent_id", "policy_id")
          SELECT a."id", p."id" FROM w, "agents" a, "policies" p
          WHERE a."id" = w."owner" AND ${inNamespace('a', scope)} AND p."id" = w."member" AND ${inNamespace('p', scope)}
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "direct" = ${true}`,
      ),

    /** Takes policies from agents that they were given to; those keep them that have them by their labels. */
    withdrawPolicies: (pairs: readonly Pair[]): Promise<void> =>
      each(pairs, async (portion) => {
        const OR = portion.map(([agentId, policyId]) => ({ agentId, policyId }));
        await client.agentPolicy.deleteMany({ where: { OR, byLabels: false, agent: of } });
        await client.agentPolicy.updateMany({ where: { OR, agent: of }, data: { direct: false } });
      }),
  };
}

function rowsOf(pairs: readonly Pair[]): Prisma.Sql {
  return Prisma.join(
    pairs.map(([owner, member]) => Prisma.sql`(CAST(${owner} AS INTEGER), CAST(${member} AS INTEGER))`),
  );
}
