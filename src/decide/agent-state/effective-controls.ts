import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey, TargetName } from '../../contract/call/namespace.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { isStorable, TRUE } from '../../storage/database/text.js';

/** Pairs to query: those of some agents or controls, never without any id, or of one agent by its key. */
export type PairsOf =
  | { readonly agentIds: readonly number[] }
  | { readonly controlIds: readonly number[] }
  | { readonly agentKey: AgentKey };

/**
 * A query for the effective pairs of `agent_id` and `control_id`, each pair once, whether the control is
 * linked to the agent, part of one or more of its policies, or bound to the target that it works on, if one is given.
 * `control-links-store.ts` and the last known good state apply the same rule to links that were read before.
 */
export function effectivePairs(of: PairsOf, target: TargetName | null = null): Prisma.Sql {
  const [links, policies] =
    'controlIds' in of
      ? [oneOf(Prisma.sql`l."control_id"`, of.controlIds), oneOf(Prisma.sql`p."control_id"`, of.controlIds)]
      : [ofAgents(Prisma.sql`l."agent_id"`, of), ofAgents(Prisma.sql`g."agent_id"`, of)];
  return Prisma.sql`
    SELECT l."agent_id", l."control_id" FROM "agent_controls" l WHERE ${links}
    UNION
    SELECT g."agent_id", p."control_id"
    FROM "agent_policies" g JOIN "policy_controls" p ON p."policy_id" = g."policy_id" WHERE ${policies}
    ${target === null || 'controlIds' in of ? Prisma.empty : boundPairs(of, target)}`;
}

function boundPairs(of: Exclude<PairsOf, { controlIds: unknown }>, { type, id }: TargetName): Prisma.Sql {
  // Nothing can be bound to a target that cannot be stored.
  if (!isStorable(type) || !isStorable(id)) return Prisma.empty;
  const agents =
    'agentKey' in of ? Prisma.sql`a."name" = ${of.agentKey}` : oneOf(Prisma.sql`a."id"`, of.agentIds);
  return Prisma.sql`
    UNION
    SELECT a."id", b."control_id" FROM "agents" a JOIN "control_bindings" b ON b."namespace" = a."namespace"
      AND b."target_type" = ${type} AND b."target_id" = ${id} AND b."enabled" = ${true} WHERE ${agents}`;
}

/**
 * A condition that an agent, of the namespace unless it is null, has an enabled control, by the same rule. The policies with one are found once for all
 * agents, because a policy may have many disabled controls and many agents.
 */
export function hasEnabledControl(agentId: Prisma.Sql, scope: Pick<Scoped, 'namespace'> | null): Prisma.Sql {
  const ofNamespace = scope === null ? TRUE : inNamespace('c', scope);
  return Prisma.sql`(
    ${agentId} IN (
      SELECT l."agent_id" FROM "agent_controls" l JOIN "controls" c ON c."id" = l."control_id"
      WHERE c."enabled" = ${true} AND ${ofNamespace})
    OR EXISTS (
      SELECT 1 FROM "agent_policies" g WHERE g."agent_id" = ${agentId} AND g."policy_id" IN (
        SELECT p."policy_id" FROM "policy_controls" p JOIN "controls" c ON c."id" = p."control_id"
        WHERE c."enabled" = ${true} AND ${ofNamespace})))`;
}

function ofAgents(
  column: Prisma.Sql,
  of: { readonly agentIds: readonly number[] } | { readonly agentKey: AgentKey },
): Prisma.Sql {
  if ('agentIds' in of) return oneOf(column, of.agentIds);
  return Prisma.sql`${column} = (SELECT "id" FROM "agents" WHERE "name" = ${of.agentKey})`;
}

function oneOf(column: Prisma.Sql, ids: readonly number[]): Prisma.Sql {
  return Prisma.sql`${column} IN (${Prisma.join([...ids])})`;
}
