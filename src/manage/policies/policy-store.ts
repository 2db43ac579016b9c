import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, flag, mapped, number, type ReadRow, text } from '../../storage/database/rows.js';
import { inNamespace, plainName, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable, isStorable, nameContains } from '../../storage/database/text.js';
import type { DemandedLabel } from '../agents/agent-labels.js';
import { type NamedAgent, namedByKey } from '../agents/named-agent.js';
import { afterName } from '../controls/control-users-store.js';

const POLICY = columns({
  id: number,
  name: mapped(text, nameOfKey),
  /** Counts the states of its name and controls, from 1. */
  version: number,
  /** Whether every agent has it, also those that are registered later. */
  everyAgent: flag,
});

/** A stored policy. */
export interface PolicyRow extends ReadRow<typeof POLICY> {
  /** The labels that give it to agents, by name; none if labels give it to no agent. */
  readonly labels: readonly DemandedLabel[];
}

/** The same with its controls, times and agents. */
export interface WholePolicy extends PolicyRow {
  /** Ascending. */
  readonly controlIds: readonly number[];
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** When the version began, in milliseconds since the epoch. */
  readonly updatedAtMs: number;
  readonly agentCount: number;
}

/** Selection of policies to list. */
export interface PolicyFilters extends PageAsked<number> {
  /** Part of the name, ignoring case. */
  readonly nameContains: string | null;
}

/** An agent that has a policy. */
export interface PolicyAgentRow {
  readonly id: number;
  readonly name: string;
  readonly byLabels: boolean;
}

const SHOWN = {
  ...POLICY.selected,
  labels: { select: { name: true, value: true }, orderBy: { name: 'asc' } },
} as const satisfies Prisma.PolicySelect;
const WHOLE = {
  ...SHOWN,
  createdAtMs: true,
  updatedAtMs: true,
  controls: { select: { controlId: true }, orderBy: { controlId: 'asc' } },
} as const satisfies Prisma.PolicySelect;

type StoredPolicy = Prisma.PolicyGetPayload<{ select: typeof WHOLE }>;

/**
 * Stored policies of a namespace, by their plain names. Writing needs the client of a mutation. Every method rejects with
 * a `ServiceError` only.
 */
export function createPolicyStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const whole = (rows: readonly StoredPolicy[]) => withAgentCounts(client, rows);
  return {
    /** Null also for a number that cannot be the id of a policy. */
    find: (id: number): Promise<PolicyRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.policy.findUnique({ where: { id, ...of }, select: SHOWN });
        return row === null ? null : toRow(row);
      }),

    /** The same with its controls. They may be later than its version if they change meanwhile, never earlier. */
    findWhole: (id: number): Promise<WholePolicy | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const where = { id, ...of };
        const [row] = await whole(await client.policy.findMany({ where, select: WHOLE }));
        return row ?? null;
      }),

    findByName: (name: string): Promise<PolicyRow | null> =>
      withServiceErrors(async () => {
        if (!isStorable(name)) return null;
        const where = { name: namespace.keyOf(name), ...of };
        const row = await client.policy.findUnique({ where, select: SHOWN });
        return row === null ? null : toRow(row);
      }),

    /** One page, newest id first. */
    list: ({ cursor, limit, nameContains: part }: PolicyFilters): Promise<Page<WholePolicy>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"policies" p`,
          filters: [
            inNamespace('p', scope),
            nameContains(plainName(Prisma.sql`p."name"`, scope), part ?? ''),
          ],
          ...newestFirst(Prisma.sql`p."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const where = { id: { in: ids }, ...of };
          return whole(await client.policy.findMany({ where, select: WHOLE }));
        });
      }),

    /** The policies of an agent, by id ascending. */
    ofAgent: (agentId: number): Promise<WholePolicy[]> =>
      withServiceErrors(async () => {
        const rows = await client.policy.findMany({
          where: { agents: { some: { agentId } }, ...of },
          select: WHOLE,
          orderBy: { id: 'asc' },
        });
        return whole(rows);
      }),

    /** One page of the agents with a policy, by name; only names after the cursor. */
    agents: (policyId: number, asked: PageAsked<string>): Promise<Page<PolicyAgentRow>> =>
      withServiceErrors(() => agentsOf(scope, policyId, asked)),

    /** The first agents with a policy, by name, and the number of all. */
    firstAgents: (policyId: number, limit: number): Promise<{ first: NamedAgent[]; count: number }> =>
      withServiceErrors(async () => {
        const where = { policies: { some: { policyId } }, ...of };
        const orderBy = { name: 'asc' } as const;
        const rows = await client.agent.findMany({ where, select: { name: true }, orderBy, take: limit });
        return {
          first: rows.map(({ name }) => namedByKey(name)),
          count: await client.agentPolicy.count({ where: { policyId, policy: of } }),
        };
      }),

    /** The name must be free. */
    insert: ({ name, createdAtMs }: { name: string; createdAtMs: number }): Promise<PolicyRow> =>
      withServiceErrors(async () => {
        assertStorable(name);
        const data = { name: namespace.keyOf(name), createdAtMs: BigInt(createdAtMs), ...of };
        return toRow(await client.policy.create({ data, select: SHOWN }));
      }),

    /** The policy must exist, and the name must be free. */
    rename: (id: number, { name, updatedAtMs }: { name: string; updatedAtMs: number }): Promise<void> =>
      withServiceErrors(async () => {
        assertStorable(name);
        const times = { version: { increment: 1 }, updatedAtMs: BigInt(updatedAtMs) };
        const data = { name: namespace.keyOf(name), ...times };
        await client.policy.update({ where: { id, ...of }, data, select: { id: true } });
      }),

    /** Marks a policy for every agent of the namespace, and gives it to all; or ends this, and leaves it to those that have it. */
    setEveryAgent: (id: number, everyAgent: boolean): Promise<void> =>
      withServiceErrors(async () => {
        await client.policy.update({ where: { id, ...of }, data: { everyAgent }, select: { id: true } });
        if (!everyAgent) return;
        await client.$executeRaw`
          INSERT INTO "agent_policies" ("agent_id", "policy_id")
          SELECT a."id", CAST(${id} AS INTEGER) FROM "agents" a WHERE ${inNamespace('a', scope)}
          ON CONFLICT ("agent_id", "policy_id") DO UPDATE SET "direct" = ${true}`;
      }),

    /** Removes a policy from all agents, and then the policy itself, which must exist. */
    remove: (id: number): Promise<void> =>
      withServiceErrors(async () => {
        const links = { where: { policyId: id, policy: of } };
        await client.agentPolicy.deleteMany(links);
        await client.policyControl.deleteMany(links);
        await client.policy.delete({ where: { id, ...of }, select: { id: true } });
      }),
  };
}

function toRow(row: Prisma.PolicyGetPayload<{ select: typeof SHOWN }>): PolicyRow {
  return { ...POLICY.of(row), labels: row.labels };
}

function toWhole(row: StoredPolicy, agentCount: number): WholePolicy {
  return {
    ...toRow(row),
    controlIds: row.controls.map(({ controlId }) => controlId),
    createdAtMs: Number(row.createdAtMs),
    updatedAtMs: Number(row.updatedAtMs ?? row.createdAtMs),
    agentCount,
  };
}

/** Counts the agents of these policies alone: Prisma would count those of all. */
async function withAgentCounts(client: DbClient, rows: readonly StoredPolicy[]): Promise<WholePolicy[]> {
  if (rows.length === 0) return [];
  const counted = await client.$queryRaw<{ id: number; count: bigint }[]>(Prisma.sql`
    SELECT g."policy_id" AS "id", COUNT(*) AS "count" FROM "agent_policies" g
    WHERE g."policy_id" IN (${Prisma.join(rows.map(({ id }) => id))}) GROUP BY g."policy_id"`);
  const counts = new Map(counted.map(({ id, count }) => [Number(id), Number(count)]));
  return rows.map((row) => toWhole(row, counts.get(row.id) ?? 0));
}

function agentsOf(
  scope: Scoped,
  policyId: number,
  { cursor, limit }: PageAsked<string>,
): Promise<Page<PolicyAgentRow>> {
  const { client, namespace } = scope;
  const query = {
    from: Prisma.sql`"agent_policies" g JOIN "agents" a ON a."id" = g."agent_id"`,
    id: Prisma.sql`a."id"`,
    filters: [inNamespace('a', scope), Prisma.sql`g."policy_id" = ${policyId}`],
    after: afterName(cursor, scope),
    orderBy: Prisma.sql`a."name"`,
    limit,
  };
  return findPage(client, query, async (ids) => {
    const rows = await client.agentPolicy.findMany({
      where: { policyId, agentId: { in: ids }, agent: { namespace: namespace.name } },
      select: { byLabels: true, agent: { select: { id: true, name: true } } },
    });
    return rows.map(({ byLabels, agent: { id, name } }) => ({ id, name: nameOfKey(name), byLabels }));
  });
}
