import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
import { type ControlRow, toControlRow } from './control-store.js';

/** Who uses a control. */
export interface ControlUsage {
  /** The first of the names of its agents, in the order of their bytes. */
  readonly agentName: string;
  /** Number of its agents; at least one. */
  readonly count: number;
}

export type AgentControlStore = ReturnType<typeof createAgentControlStore>;

/** Links of controls to agents. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createAgentControlStore(client: DbClient) {
  return {
    /** False when the link existed. Both ends must exist. */
    add: (agentId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const added = await client.$executeRaw`
          INSERT INTO "agent_controls" ("agent_id", "control_id") VALUES (${agentId}, ${controlId})
          ON CONFLICT DO NOTHING`;
        return added > 0;
      }),

    /** False when there was no link. */
    remove: (agentId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const { count } = await client.agentControl.deleteMany({ where: { agentId, controlId } });
        return count > 0;
      }),

    /** Removes all links of a control and returns how many there were. */
    removeAll: (controlId: number): Promise<number> =>
      withServiceErrors(async () => {
        const { count } = await client.agentControl.deleteMany({ where: { controlId } });
        return count;
      }),

    /** The controls of an agent, newest id first. */
    controlsOf: (agentId: number): Promise<ControlRow[]> =>
      withServiceErrors(async () => {
        const where = { agents: { some: { agentId } } };
        const rows = await client.control.findMany({ where, orderBy: { id: 'desc' } });
        return rows.map(toControlRow);
      }),

    /** The names of the agents of a control, ascending. */
    agentsOf: (controlId: number): Promise<string[]> =>
      withServiceErrors(async () => {
        const where = { controls: { some: { controlId } } };
        const rows = await client.agent.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } });
        return rows.map(({ name }) => name);
      }),

    /** Who uses each control; one that nobody uses is absent. */
    usage: (controlIds: readonly number[]): Promise<Map<number, ControlUsage>> =>
      withServiceErrors(async () => {
        if (controlIds.length === 0) return new Map();
        const rows = await client.$queryRaw<UsageRow[]>(Prisma.sql`
          SELECT l."control_id" AS "id", MIN(a."name") AS "agentName", COUNT(*) AS "count"
          FROM "agent_controls" l JOIN "agents" a ON a."id" = l."agent_id"
          WHERE l."control_id" IN (${Prisma.join([...controlIds])})
          GROUP BY l."control_id"`);
        return new Map(
          rows.map(({ id, agentName, count }) => [Number(id), { agentName, count: Number(count) }]),
        );
      }),
  };
}

interface UsageRow {
  readonly id: number;
  readonly agentName: string;
  readonly count: bigint;
}
