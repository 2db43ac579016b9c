import { Prisma } from '../../gen/prisma/sqlite/client.js';

/** Which pairs to look at: those of some agents, or those of some controls. Never without any id. */
export type PairsOf = { readonly agentIds: readonly number[] } | { readonly controlIds: readonly number[] };

/**
 * A query for the pairs of `agent_id` and `control_id` by which agents are checked, each pair once, whether the
 * control is linked to the agent or comes with one or more of its policies. The one place that says so.
 */
export function effectivePairs(of: PairsOf): Prisma.Sql {
  const [links, policies] =
    'agentIds' in of
      ? [oneOf(Prisma.sql`l."agent_id"`, of.agentIds), oneOf(Prisma.sql`g."agent_id"`, of.agentIds)]
      : [oneOf(Prisma.sql`l."control_id"`, of.controlIds), oneOf(Prisma.sql`p."control_id"`, of.controlIds)];
  return Prisma.sql`
    SELECT l."agent_id", l."control_id" FROM "agent_controls" l WHERE ${links}
    UNION
    SELECT g."agent_id", p."control_id"
    FROM "agent_policies" g JOIN "policy_controls" p ON p."policy_id" = g."policy_id" WHERE ${policies}`;
}

function oneOf(column: Prisma.Sql, ids: readonly number[]): Prisma.Sql {
  return Prisma.sql`${column} IN (${Prisma.join([...ids])})`;
}
