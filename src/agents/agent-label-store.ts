import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../database/bulk.js';
import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
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
  readonly name: string;
}

/** Policies all of whose labels an agent has; one without labels is not among them. */
function matching(agentId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT w."policy_id" FROM "policy_labels" w
    LEFT JOIN "agent_labels" h ON h."agent_id" = ${agentId} AND h."name" = w."name" AND h."value" = w."value"
    GROUP BY w."policy_id" HAVING COUNT(*) = COUNT(h."name")`;
}

/** Labels of agents, and what they give. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createAgentLabelStore(client: DbClient) {
  return {
    /** Replaces the labels of an agent by those of a version of its registration. */
    write: (agentId: number, version: number, labels: Labels): Promise<void> =>
      withServiceErrors(async () => {
        await client.agentLabel.deleteMany({ where: { agentId } });
        const rows = [...labels].map(([name, value]) => ({ agentId, name, value }));
        if (rows.length > 0) await client.agentLabel.createMany({ data: rows });
        const data = { labelsVersion: BigInt(version) };
        await client.agent.update({ where: { id: agentId }, data, select: { id: true } });
      }),

    policiesByLabels: (agentId: number): Promise<PoliciesByLabels> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<{ id: number; name: string; stale: number }[]>(Prisma.sql`
          SELECT p."id", p."name", 0 AS "stale" FROM "policies" p WHERE p."id" IN (${matching(agentId)})
            AND p."id" NOT IN (
              SELECT "policy_id" FROM "agent_policies" WHERE "agent_id" = ${agentId} AND "by_labels" = ${true})
          UNION ALL
          SELECT p."id", p."name", 1 AS "stale"
          FROM "agent_policies" g JOIN "policies" p ON p."id" = g."policy_id"
          WHERE g."agent_id" = ${agentId} AND g."by_labels" = ${true} AND p."id" NOT IN (${matching(agentId)})
          ORDER BY "id"`);
        const named = (stale: boolean) =>
          rows
            .filter((row) => (Number(row.stale) === 1) === stale)
            .map(({ id, name }) => ({ id: Number(id), name }));
        return { missing: named(false), stale: named(true) };
      }),

    /** Gives policies to an agent by its labels. */
    give: (agentId: number, policies: readonly NamedPolicy[]): Promise<void> =>
      withServiceErrors(async () => {
        if (policies.length === 0) return;
        await client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id", "direct", "by_labels")
          SELECT CAST(${agentId} AS INTEGER), "id", ${false}, ${true} FROM "policies" WHERE "id" IN (${idsOf(policies)})
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "by_labels" = ${true}`;
      }),

    /** Takes policies from an agent that it has by labels; those that were given to it directly stay. */
    take: (agentId: number, policies: readonly NamedPolicy[]): Promise<void> =>
      withServiceErrors(async () => {
        if (policies.length === 0) return;
        const ids = idsOf(policies);
        await client.$executeRaw`
          DELETE FROM "agent_policies"
          WHERE "agent_id" = ${agentId} AND "policy_id" IN (${ids}) AND "direct" = ${false}`;
        await client.$executeRaw`
          UPDATE "agent_policies" SET "by_labels" = ${false}
          WHERE "agent_id" = ${agentId} AND "policy_id" IN (${ids})`;
      }),

    /** Agents whose labels are of another version than their registration. */
    unread: (limit: number): Promise<UnreadAgent[]> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<UnreadAgent[]>(Prisma.sql`
          SELECT "id", "name" FROM "agents" WHERE "labels_version" <> "version" ORDER BY "id" LIMIT ${limit}`);
        return rows.map(({ id, name }) => ({ id: Number(id), name }));
      }),
  };
}

function idsOf(policies: readonly NamedPolicy[]): Prisma.Sql {
  return Prisma.join(policies.map(({ id }) => id));
}

/** A value of a label and the number of agents with it. */
export interface CountedLabel {
  readonly name: string;
  readonly value: string;
  readonly agents: number;
}

/** The first labels by name, each with the values that most agents have. */
export async function countedLabels(
  bulk: Pick<BulkDatabase, 'read'>,
  { names, values }: { readonly names: number; readonly values: number },
): Promise<CountedLabel[]> {
  const rows = await bulk.read(
    'search',
    Prisma.sql`
      SELECT "name", "value", "agents" FROM (
        SELECT "name", "value", "agents",
          ROW_NUMBER() OVER (PARTITION BY "name" ORDER BY "agents" DESC, "value") AS "ordinal"
        FROM (
          SELECT "name", "value", COUNT(*) AS "agents" FROM "agent_labels"
          WHERE "name" IN (
            SELECT "name" FROM (SELECT DISTINCT "name" FROM "agent_labels" ORDER BY "name" LIMIT ${names}) AS "first")
          GROUP BY "name", "value") AS "counted") AS "ranked"
      WHERE "ordinal" <= ${values}`,
  );
  return rows.map(([name, value, agents]) => ({
    name: String(name),
    value: String(value),
    agents: Number(agents),
  }));
}
