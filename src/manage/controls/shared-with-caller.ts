import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentLimit, beyondAgents } from '../../contract/call/agent-limit.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { isRowId } from '../../storage/database/row-id.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

/**
 * A key that is limited to agents may link only controls that one of its agents already has: it would otherwise read the
 * definitions of all others by linking them. It may remove only such ones, too: a removal would otherwise tell that a
 * control of others exists. Fails in the same way for a control that does not exist.
 */
export function demandControlOfOwnAgents(scope: Scoped, limit: AgentLimit | null, id: number): Promise<void> {
  return demandOwn(scope, limit, id, effectivePairs({ controlIds: [id] }));
}

/** The same for a policy. */
export function demandPolicyOfOwnAgents(scope: Scoped, limit: AgentLimit | null, id: number): Promise<void> {
  const owners = Prisma.sql`SELECT "agent_id" FROM "agent_policies" WHERE "policy_id" = ${id}`;
  return demandOwn(scope, limit, id, owners);
}

/** `owners` selects the `agent_id` of every agent that has it. */
async function demandOwn(
  scope: Scoped,
  limit: AgentLimit | null,
  id: number,
  owners: Prisma.Sql,
): Promise<void> {
  if (limit === null) return;
  const query = Prisma.sql`
    SELECT a."name" FROM (${owners}) o JOIN "agents" a ON a."id" = o."agent_id" WHERE ${inNamespace('a', scope)}`;
  const rows = isRowId(id)
    ? await withServiceErrors(() => scope.client.$queryRaw<{ readonly name: string }[]>(query))
    : [];
  if (!rows.some(({ name }) => limit.allows(nameOfKey(name)))) throw beyondAgents();
}
