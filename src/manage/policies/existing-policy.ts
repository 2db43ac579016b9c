import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { labelText } from '../agents/agent-labels.js';
import { appliedWarnings, ownersOf } from '../controls/applied-warnings.js';
import { policyNotFound } from './policy-errors.js';
import { createPolicyStore, type PolicyRow, type WholePolicy } from './policy-store.js';

/** The row of a policy of the namespace. Throws POLICY_NOT_FOUND. */
export async function existingPolicy(scope: Scoped, policyId: number): Promise<PolicyRow> {
  const row = await createPolicyStore(scope).find(policyId);
  if (row === null) throw policyNotFound(policyId);
  return row;
}

/** The same in the transaction of a change. Throws POLICY_NOT_FOUND, or VERSION_MISMATCH. */
export async function demandedPolicy(
  scope: Scoped,
  policyId: number,
  ifVersion: IfVersion,
): Promise<PolicyRow> {
  const policy = await existingPolicy(scope, policyId);
  demandVersion(ifVersion, { kind: 'Policy', name: String(policy.id), version: policy.version });
  return policy;
}

/** A warning if a policy that was changed is applied as configuration. */
export function changeWarnings(scope: Scoped, { name }: PolicyRow): Promise<Warning[]> {
  return appliedWarnings(scope, 'policy_id', [{ family: 'policy', name }]);
}

/** Policies as contained in replies. */
export async function printedPolicies(scope: Scoped, policies: readonly WholePolicy[]) {
  const owners = await ownersOf(
    scope,
    'policy',
    policies.map(({ name }) => name),
  );
  return policies.map((policy) => printedPolicy(policy, owners.get(policy.name) ?? null));
}

function printedPolicy(policy: WholePolicy, owner: string | null) {
  const { id, name, version, controlIds, agentCount, createdAtMs, updatedAtMs } = policy;
  return {
    id,
    name,
    control_ids: controlIds,
    version,
    update_time: new Date(updatedAtMs).toISOString(),
    agent_count: agentCount,
    create_time: new Date(createdAtMs).toISOString(),
    every_agent: policy.everyAgent,
    agent_labels: policy.labels.map(labelText),
    owner,
  };
}

/** A policy as replied by reads and updates of one. Throws POLICY_NOT_FOUND. */
export async function replyOf(scope: Scoped, policyId: number) {
  const policy = await createPolicyStore(scope).findWhole(policyId);
  if (policy === null) throw policyNotFound(policyId);
  const owners = await ownersOf(scope, 'policy', [policy.name]);
  return { policy: printedPolicy(policy, owners.get(policy.name) ?? null), version: policy.version };
}
