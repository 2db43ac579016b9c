import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentKey, type Namespace, nameOfKey } from '../../contract/call/namespace.js';
import type { BulkDatabase } from '../../storage/database/bulk.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { columns, number, type ReadRow, select, text } from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { TRUE } from '../../storage/database/text.js';
import type { Labels } from './agent-labels.js';

/** A policy by its id and name. */
export interface NamedPolicy {
  readonly id: number;
  readonly name: string;
}

/** The policies that an agent has or should have by its labels. */
export interface PoliciesByLabels {
  /** Those whose labels it has, and that it does not have by them yet. */
  readonly missing: NamedPolicy[];
  /** Those that it has by labels that it has no longer. */
  readonly stale: NamedPolicy[];
}

/** A registration whose labels were not read: a program of an earlier version stored it. */
export interface UnreadAgent {
  readonly id: number;
  readonly key: AgentKey;
}

/** Policies of the namespace all of whose labels an agent has; one without labels is not among them. */
function matching(agentId: number, scope: Scoped): Prisma.Sql {
  return Prisma.sql`
    SELECT w."policy_id" FROM "policy_labels" w
    JOIN "policies" o ON o."id" = w."policy_id" AND ${inNamespace('o', scope)}
    JOIN "agents" a ON a."id" = ${agentId} AND ${inNamespace('a', scope)}
    LEFT JOIN "agent_labels" h ON h."agent_id" = ${agentId} AND h."name" = w."name" AND h."value" = w."value"
    GROUP BY w."policy_id" HAVING COUNT(*) = COUNT(h."name")`;
}

/**
 * Labels of agents of a namespace, and what they give. Writing needs the client of a mutation. Rejects with a
 * `ServiceError` only.
 */
export function createAgentLabelStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    /** Replaces the labels of an agent, which must exist, by those of a version of its registration. */
    write: (agentId: number, version: number, labels: Labels): Promise<void> =>
      withServiceErrors(async () => {
        // Fails before anything is written when the agent is of another namespace.
        const data = { labelsVersion: BigInt(version) };
        await client.agent.update({ where: { id: agentId, ...of }, data, select: { id: true } });
        await client.agentLabel.deleteMany({ where: { agentId } });
        const rows = [...labels].map(([name, value]) => ({ agentId, name, value }));
        if (rows.length > 0) await client.agentLabel.createMany({ data: rows });
      }),

    policiesByLabels: (agentId: number): Promise<PoliciesByLabels> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<{ id: number; name: string; stale: number }[]>(Prisma.sql`
          SELECT p."id", p."name", 0 AS "stale" FROM "policies" p WHERE p."id" IN (${matching(agentId, scope)})
            AND p."id" NOT IN (
              SELECT "policy_id" FROM "agent_policies" WHERE "agent_id" = ${agentId} AND "by_labels" = ${true})
          UNION ALL
          SELECT p."id", p."name", 1 AS "stale"
          FROM "agent_policies" g JOIN "policies" p ON p."id" = g."policy_id"
          WHERE g."agent_id" = ${agentId} AND g."by_labels" = ${true} AND ${inNamespace('p', scope)}
            AND p."id" NOT IN (${matching(agentId, scope)})
          ORDER BY "id"`);
        const named = (stale: boolean) =>
          rows
            .filter((row) => (Number(row.stale) === 1) === stale)
            .map(({ id, name }) => ({ id: Number(id), name: nameOfKey(name) }));
        return { missing: named(false), stale: named(true) };
      }),

    /** Gives policies to an agent by its labels. */
    give: (agentId: number, policies: readonly NamedPolicy[]): Promise<void> =>
      withServiceErrors(async () => {
        if (policies.length === 0) return;
        await client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id", "direct", "by_labels")
          SELECT a."id", p."id", ${false}, ${true} FROM "agents" a, "policies" p
          WHERE a."id" = ${agentId} AND ${inNamespace('a', scope)}
            AND p."id" IN (${idsOf(policies)}) AND ${inNamespace('p', scope)}
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "by_labels" = ${true}`;
      }),

    /** Takes policies from an agent that it has by labels; those that were given to it directly stay. */
    take: (agentId: number, policies: readonly NamedPolicy[]): Promise<void> =>
      withServiceErrors(async () => {
        if (policies.length === 0) return;
        const taken = Prisma.sql`"policy_id" IN (${idsOf(policies)}) AND "agent_id" = (
          SELECT a."id" FROM "agents" a WHERE a."id" = ${agentId} AND ${inNamespace('a', scope)})`;
        await client.$executeRaw`DELETE FROM "agent_policies" WHERE ${taken} AND "direct" = ${false}`;
        await client.$executeRaw`UPDATE "agent_policies" SET "by_labels" = ${false} WHERE ${taken}`;
      }),

    /** Agents whose labels are of another version than their registration. */
    unread: (limit: number): Promise<UnreadAgent[]> => unreadAgents(client, inNamespace('a', scope), limit),
  };
}

/** An agent of any namespace whose labels are of another version than its registration; undefined if there is none. */
export async function anyUnreadAgent(client: DbClient): Promise<UnreadAgent | undefined> {
  const [first] = await unreadAgents(client, TRUE, 1);
  return first;
}

function unreadAgents(client: DbClient, where: Prisma.Sql, limit: number): Promise<UnreadAgent[]> {
  return withServiceErrors(async () => {
    const rows = await client.$queryRaw<{ id: number; name: string }[]>(Prisma.sql`
      SELECT a."id", a."name" FROM "agents" a
      WHERE a."labels_version" <> a."version" AND ${where} ORDER BY a."id" LIMIT ${limit}`);
    return rows.map(({ id, name }) => ({ id: Number(id), key: name as AgentKey }));
  });
}

function idsOf(policies: readonly NamedPolicy[]): Prisma.Sql {
  return Prisma.join(policies.map(({ id }) => id));
}

const COUNTED = columns({ name: text, value: text, agents: number });
/** A value of a label and the number of agents with it. */
export type CountedLabel = ReadRow<typeof COUNTED>;

/** The first labels by name of the agents of a namespace, each with the values that most of them have. */
export function countedLabels(
  bulk: Pick<BulkDatabase, 'read'>,
  namespace: Namespace,
  { names, values }: { readonly names: number; readonly values: number },
): Promise<CountedLabel[]> {
  const own = ofNamespace(namespace);
  return select(COUNTED, bulk)`
    FROM (
      SELECT "name", "value", "agents",
        ROW_NUMBER() OVER (PARTITION BY "name" ORDER BY "agents" DESC, "value") AS "ordinal"
      FROM (
        SELECT h."name", h."value", COUNT(*) AS "agents" FROM ${own} AND h."name" IN (
          SELECT "name" FROM (
            SELECT DISTINCT h."name" FROM ${own} ORDER BY h."name" LIMIT ${names}
          ) AS "first")
        GROUP BY h."name", h."value") AS "counted") AS "ranked"
    WHERE "ordinal" <= ${values}`;
}

/** Labels `h` of agents of a namespace. Where all agents are of `default`, not one of them is looked at. */
function ofNamespace({ name, isDefault }: Namespace): Prisma.Sql {
  if (!isDefault) {
    return Prisma.sql`
      "agents" a JOIN "agent_labels" h ON h."agent_id" = a."id" WHERE a."namespace" = ${name}`;
  }
  return Prisma.sql`"agent_labels" h WHERE (
    NOT EXISTS (SELECT 1 FROM "agents" o WHERE o."namespace" < ${name} OR o."namespace" > ${name})
    OR EXISTS (SELECT 1 FROM "agents" a WHERE a."id" = h."agent_id" AND a."namespace" = ${name}))`;
}
