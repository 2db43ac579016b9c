import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { hashText } from '../../storage/database/text.js';

/** Most controls of an agent that are compared with another one. */
const MAX_COMPARED = 500;

/** Reads which controls deny beside another one. Rejects with a `ServiceError` only. */
export function createHiddenControlStore(scope: Scoped) {
  const { client } = scope;
  return {
    /**
     * Enabled controls that deny, of one of the agents that have a control by a link or a policy, by id ascending; null if
     * no agent has it.
     */
    deniesBeside: (controlId: number): Promise<StoredDefinition[] | null> =>
      withServiceErrors(async () => {
        const [agent] = await client.$queryRaw<{ id: number }[]>(Prisma.sql`
          SELECT e."agent_id" AS "id" FROM (${effectivePairs({ controlIds: [controlId] })}) e
          JOIN "agents" a ON a."id" = e."agent_id" AND ${inNamespace('a', scope)}
          ORDER BY e."agent_id" LIMIT 1`);
        if (agent === undefined) return null;
        const rows = await client.$queryRaw<StoredDefinition[]>(Prisma.sql`
          SELECT c."id", c."name", c."data"
          FROM (${effectivePairs({ agentIds: [Number(agent.id)] })}) e JOIN "controls" c ON c."id" = e."control_id"
          WHERE ${inNamespace('c', scope)} AND c."id" <> ${controlId} AND c."enabled" = ${true}
            AND c."execution" = 'server' AND c."id" IN (
              SELECT f."control_id" FROM "control_facets" f
              WHERE f."kind" = 'decision' AND f."hash" = ${hashText('deny')})
          ORDER BY c."id" LIMIT ${MAX_COMPARED}`);
        return rows.map(({ id, name, data }) => ({ id: Number(id), name, data }));
      }),

    /** Whether every agent that has a control has another one as well. */
    allHave: (controlId: number, otherId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<unknown[]>(Prisma.sql`
          SELECT 1 FROM (${effectivePairs({ controlIds: [controlId] })}) e
          JOIN "agents" a ON a."id" = e."agent_id" AND ${inNamespace('a', scope)}
          WHERE e."agent_id" NOT IN (
            SELECT o."agent_id" FROM (${effectivePairs({ controlIds: [otherId] })}) o)
          LIMIT 1`);
        return rows.length === 0;
      }),
  };
}
