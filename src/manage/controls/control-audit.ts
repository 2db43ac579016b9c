import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { type AuditFact, storedState } from '../../storage/database/audit-log.js';
import type { ControlRow } from './control-store.js';

/** A change of a control for the audit log. `name` is that after the change. */
export function controlFact(
  action: `control.${string}`,
  { id, name }: Pick<ControlRow, 'id' | 'name'>,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'control', id: String(id), name, before, after };
}

/** A control as the audit log shows it. */
export function controlState({ name, data }: Pick<ControlRow, 'name' | 'data'>, version: number): JsonObject {
  return { version, name, data: storedState(data) };
}
