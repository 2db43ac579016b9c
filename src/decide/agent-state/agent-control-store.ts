import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { nameOfKey, type TargetName } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { effectivePairs } from './effective-controls.js';

/** The parts of a control needed to run it. */
export interface StoredDefinition {
  readonly id: number;
  readonly name: string;
  /** JSON text of its definition. */
  readonly data: string;
}

/** The controls of an agent at one revision. */
export interface AgentState {
  readonly revision: number;
  /**
   * Linked to the agent, in one of its policies or bound to its target, each once, newest id first. Null for an unknown
   * agent.
   */
  readonly controls: readonly StoredDefinition[] | null;
  readonly policyIds: readonly number[];
}

/** Users of a control. */
export interface ControlUsage {
  /** The first of the names of its agents, in byte order. */
  readonly agentName: string;
  /** Number of its agents; at least one. */
  readonly count: number;
}

/**
 * Links of controls to agents, and the controls of agents by links and policies, in a namespace. Writing needs the client
 * of a mutation. Rejects with a `ServiceError` only.
 */
export function createAgentControlStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    /** False when the link already existed, or one of its ends does not exist in the namespace. */
    add: (agentId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const added = await client.$executeRaw`
          INSERT INTO "agent_controls" ("agent_id", "control_id")
          SELECT a."id", c."id" FROM "agents" a, "controls" c
          WHERE a."id" = ${agentId} AND ${inNamespace('a', scope)}
            AND c."id" = ${controlId} AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`;
        return added > 0;
      }),

    /** False when there was no link. */
    remove: (agentId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const where = { agentId, controlId, agent: of };
        const { count } = await client.agentControl.deleteMany({ where });
        return count > 0;
      }),

    /** The ids of the controls that are linked to an agent, ascending. */
    linkedIds: (agentId: number): Promise<number[]> =>
      withServiceErrors(async () => {
        const rows = await client.agentControl.findMany({
          where: { agentId, agent: of },
          select: { controlId: true },
          orderBy: { controlId: 'asc' },
        });
        return rows.map(({ controlId }) => controlId);
      }),

    /** The controls of an agent that works on a target, if one is given: each once, newest id first. */
    controlsOf: (agentId: number, target: TargetName | null = null): Promise<StoredDefinition[]> =>
      withServiceErrors(async () => {
        // One statement, so that a control that moves from a link to a policy is never missed.
        const rows = await client.$queryRaw<StoredDefinition[]>(Prisma.sql`
          SELECT c."id", c."name", c."data"
          FROM (${effectivePairs({ agentIds: [agentId] }, target)}) e JOIN "controls" c ON c."id" = e."control_id"
          WHERE ${inNamespace('c', scope)}
          ORDER BY c."id" DESC`);
        return rows.map(({ id, name, data }) => ({ id: Number(id), name, data }));
      }),

    /** The revision of the database, and whether it has an agent. */
    revisionFor: (agentName: string): Promise<{ readonly revision: number; readonly hasAgent: boolean }> =>
      withServiceErrors(async () => {
        const [row] = await client.$queryRaw<Pick<StateRow, 'revision' | 'agentId'>[]>(Prisma.sql`
          SELECT s."revision", a."id" AS "agentId"
          FROM "service_state" s
          LEFT JOIN "agents" a ON a."name" = ${namespace.agentKey(agentName)} AND ${inNamespace('a', scope)}
          WHERE s."id" = 1`);
        if (row === undefined) throw new Error('the row of the revision is missing');
        return { revision: Number(row.revision), hasAgent: row.agentId !== null };
      }),

    /** The effective controls, with a target if one is given, and the policies of an agent, at one revision. */
    stateOf: (agentName: string, target: TargetName | null = null): Promise<AgentState> =>
      withServiceErrors(async () => {
        const key = namespace.agentKey(agentName);
        // One statement, so that revision, agent and controls are consistent.
        const rows = await client.$queryRaw<StateRow[]>(Prisma.sql`
          SELECT s."revision", a."id" AS "agentId", c."id" AS "id", c."name", c."data",
            CAST(NULL AS INTEGER) AS "policyId"
          FROM "service_state" s
          LEFT JOIN "agents" a ON a."name" = ${key} AND ${inNamespace('a', scope)}
          LEFT JOIN (${effectivePairs({ agentKey: key }, target)}) e ON e."agent_id" = a."id"
          LEFT JOIN "controls" c ON c."id" = e."control_id"
          WHERE s."id" = 1
          UNION ALL
          SELECT s."revision", a."id", NULL, NULL, NULL, g."policy_id"
          FROM "service_state" s JOIN "agents" a ON a."name" = ${key} AND ${inNamespace('a', scope)}
          JOIN "agent_policies" g ON g."agent_id" = a."id"
          WHERE s."id" = 1
          ORDER BY "id" DESC, "policyId"`);
        const [first] = rows;
        if (first === undefined) throw new Error('the row of the revision is missing');
        const controls = rows.flatMap(({ id, name, data }) =>
          id === null ? [] : { id: Number(id), name: name ?? '', data: data ?? '' },
        );
        return {
          revision: Number(first.revision),
          controls: first.agentId === null ? null : controls,
          policyIds: rows.flatMap(({ policyId }) => (policyId === null ? [] : Number(policyId))),
        };
      }),

    /** The names of the agents that a control is linked to, ascending. */
    agentsOf: (controlId: number): Promise<string[]> =>
      withServiceErrors(async () => {
        const where = { controls: { some: { controlId } }, ...of };
        const rows = await client.agent.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } });
        return rows.map(({ name }) => nameOfKey(name));
      }),

    /** The users of each control, by a link or a policy; an unused one is absent. */
    usage: (controlIds: readonly number[]): Promise<Map<number, ControlUsage>> =>
      withServiceErrors(async () => {
        if (controlIds.length === 0) return new Map();
        const rows = await client.$queryRaw<UsageRow[]>(Prisma.sql`
          SELECT e."control_id" AS "id", MIN(a."name") AS "agentKey", COUNT(*) AS "count"
          FROM (${effectivePairs({ controlIds })}) e JOIN "agents" a ON a."id" = e."agent_id"
          WHERE ${inNamespace('a', scope)}
          GROUP BY e."control_id"`);
        return new Map(
          rows.map(({ id, agentKey, count }) => [
            Number(id),
            { agentName: nameOfKey(agentKey), count: Number(count) },
          ]),
        );
      }),
  };
}

interface StateRow {
  readonly revision: bigint;
  readonly agentId: number | null;
  readonly id: number | null;
  readonly name: string | null;
  readonly data: string | null;
  readonly policyId: number | null;
}

interface UsageRow {
  readonly id: number;
  readonly agentKey: string;
  readonly count: bigint;
}
