import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { type AuditFact, storedState } from '../../storage/database/audit-log.js';
import type { AgentRow } from './agent-store.js';

/** A change of an agent for the audit log. */
export function agentFact(
  action: `agent.${string}`,
  agentName: string,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'agent', id: agentName, before, after };
}

/** A registration as the audit log shows it, with the setting for its step schemas if it has one. */
export function agentState({
  data,
  version,
  stepSchemas,
}: Pick<AgentRow, 'data' | 'version' | 'stepSchemas'>): JsonObject {
  const setting = stepSchemas === null ? {} : { step_schemas: stepSchemas };
  return { version, ...setting, registration: storedState(data) };
}

/** A control that is linked to an agent or a policy, as the audit log shows the link. */
export function controlLink({ id, name }: { readonly id: number; readonly name: string }): JsonObject {
  return { control_id: id, control_name: name };
}
