import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { PolicyRow } from './policy-store.js';

/** A change of a policy for the audit log. */
export function policyFact(
  action: `policy.${string}`,
  { id, name }: Pick<PolicyRow, 'id' | 'name'>,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'policy', id: String(id), name, before, after };
}

/** A policy of an agent as the audit log shows the link. */
export function policyLink({ id, name }: Pick<PolicyRow, 'id' | 'name'>): JsonObject {
  return { policy_id: id, policy_name: name };
}
