import { Prisma } from '../../gen/prisma/sqlite/client.js';
import { type AgentLimit, beyondAgents } from '../contract/call/agent-limit.js';
import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
import { effectivePairs } from './effective-controls.js';

/** Ids have 32 bits; others are of nothing. */
const MAX_ID = 2 ** 31 - 1;

/**
 * A key that is limited to agents may link only controls that one of its agents already has: it would otherwise read the
 * definitions of all others by linking them. Fails in the same way for a control that does not exist.
 */
export async function demandControlOfOwnAgents(
  tx: DbClient,
  limit: AgentLimit | null,
  controlId: number,
): Promise<void> {
  if (limit === null) return;
  const agents = Prisma.sql`
    SELECT a."name" FROM (${effectivePairs({ controlIds: [controlId] })}) e
    JOIN "agents" a ON a."id" = e."agent_id"`;
  await demandOwn(tx, limit, controlId, agents);
}

/** The same for a policy. */
export async function demandPolicyOfOwnAgents(
  tx: DbClient,
  limit: AgentLimit | null,
  policyId: number,
): Promise<void> {
  if (limit === null) return;
  const agents = Prisma.sql`
    SELECT a."name" FROM "agent_policies" g JOIN "agents" a ON a."id" = g."agent_id"
    WHERE g."policy_id" = ${policyId}`;
  await demandOwn(tx, limit, policyId, agents);
}

async function demandOwn(tx: DbClient, limit: AgentLimit, id: number, agents: Prisma.Sql): Promise<void> {
  const isId = Number.isInteger(id) && id >= 1 && id <= MAX_ID;
  const rows = isId ? await withServiceErrors(() => tx.$queryRaw<{ readonly name: string }[]>(agents)) : [];
  if (!rows.some(({ name }) => limit.allows(name))) throw beyondAgents();
}
