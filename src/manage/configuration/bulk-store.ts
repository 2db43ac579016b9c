import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { insertRows, tableOf } from '../../storage/database/insert-rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';

/** An agent, or a policy, and what it is to have, or has no longer. */
export type Pair = readonly [ownerId: number, memberId: number];

export interface NewAgent {
  readonly name: string;
  /** The text of its registration. */
  readonly data: string;
}

/** An agent without its registration. */
export interface LinkedAgent {
  readonly id: number;
  readonly key: AgentKey;
}

/** `name` is a key. */
interface Inserted {
  readonly id: bigint | number;
  readonly name: string;
}
const RETURNING = Prisma.sql`RETURNING "id", "name"`;

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
        const types = { name: 'TEXT', created_at_ms: 'BIGINT', namespace: 'TEXT' } as const;
        const created = { created_at_ms: BigInt(nowMs), namespace: namespace.name };
        const rows = names.map((name) => ({ name: namespace.keyOf(name), ...created }));
        const inserted = await insertRows<typeof types, Inserted>(client, 'policies', types, rows, RETURNING);
        return new Map(inserted.map(({ id, name }) => [nameOfKey(name), Number(id)]));
      }),

    removePolicies: (ids: readonly number[]): Promise<void> =>
      each(ids, async (portion) => {
        const links = { where: { policyId: { in: portion }, policy: of } };
        await client.agentPolicy.deleteMany(links);
        await client.policyControl.deleteMany(links);
        await client.policy.deleteMany({ where: { id: { in: portion }, ...of } });
      }),

    /** Registers agents without labels; the names must be free. They get the policies for every agent. Returns them by name. */
    insertAgents: (agents: readonly NewAgent[], nowMs: number): Promise<Map<string, LinkedAgent>> =>
      withServiceErrors(async () => {
        const types = {
          name: 'TEXT',
          data: 'TEXT',
          created_at_ms: 'BIGINT',
          labels_version: 'BIGINT',
          namespace: 'TEXT',
        } as const;
        const created = { created_at_ms: BigInt(nowMs), labels_version: 1n, namespace: namespace.name };
        const rows = agents.map(({ name, data }) => {
          assertStorable(data);
          return { name: namespace.agentKey(name), data, ...created };
        });
        const inserted = await insertRows<typeof types, Inserted>(client, 'agents', types, rows, RETURNING);
        return new Map(
          inserted.map(({ id, name }) => [nameOfKey(name), { id: Number(id), key: name as AgentKey }]),
        );
      }),

    addMembers: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          INSERT INTO "policy_controls" ("policy_id", "control_id")
          SELECT p."id", c."id" FROM ${pairsOf(portion)} AS w, "policies" p, "controls" c
          WHERE p."id" = w."owner" AND ${inNamespace('p', scope)} AND c."id" = w."member" AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`,
      ),

    removeMembers: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          DELETE FROM "policy_controls" WHERE ("policy_id", "control_id") IN (${ownedPairs('policies', portion, scope)})`,
      ),

    addLinks: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          INSERT INTO "agent_controls" ("agent_id", "control_id")
          SELECT a."id", c."id" FROM ${pairsOf(portion)} AS w, "agents" a, "controls" c
          WHERE a."id" = w."owner" AND ${inNamespace('a', scope)} AND c."id" = w."member" AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`,
      ),

    removeLinks: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          DELETE FROM "agent_controls" WHERE ("agent_id", "control_id") IN (${ownedPairs('agents', portion, scope)})`,
      ),

    /** Gives policies to agents themselves; one that an agent has by its labels stays when it loses them. */
    givePolicies: (pairs: readonly Pair[]): Promise<void> =>
      each(
        pairs,
        (portion) => client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id")
          SELECT a."id", p."id" FROM ${pairsOf(portion)} AS w, "agents" a, "policies" p
          WHERE a."id" = w."owner" AND ${inNamespace('a', scope)} AND p."id" = w."member" AND ${inNamespace('p', scope)}
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "direct" = ${true}`,
      ),

    /** Takes policies from agents that they were given to; those keep them that have them by their labels. */
    withdrawPolicies: (pairs: readonly Pair[]): Promise<void> =>
      each(pairs, async (portion) => {
        const these = Prisma.sql`("agent_id", "policy_id") IN (${ownedPairs('agents', portion, scope)})`;
        await client.$executeRaw`DELETE FROM "agent_policies" WHERE "by_labels" = ${false} AND ${these}`;
        await client.$executeRaw`UPDATE "agent_policies" SET "direct" = ${false} WHERE ${these}`;
      }),
  };
}

function pairsOf(pairs: readonly Pair[]): Prisma.Sql {
  return tableOf(
    { owner: 'INTEGER', member: 'INTEGER' },
    pairs.map(([owner, member]) => ({ owner, member })),
  );
}

/** Selects those pairs whose owner is of the namespace. */
function ownedPairs(owners: 'agents' | 'policies', pairs: readonly Pair[], scope: Scoped): Prisma.Sql {
  return Prisma.sql`
    SELECT w."owner", w."member"
    FROM ${pairsOf(pairs)} AS w JOIN "${Prisma.raw(owners)}" o ON o."id" = w."owner" AND ${inNamespace('o', scope)}`;
}
