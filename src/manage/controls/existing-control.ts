import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { appliedWarnings } from './applied-warnings.js';
import { controlNotFound } from './control-errors.js';
import { type ControlRow, createControlStore } from './control-store.js';
import { createControlVersionStore } from './control-version-store.js';

/** A warning if a control that was changed is applied as configuration. */
export function changeWarnings(scope: Scoped, { name }: Pick<ControlRow, 'name'>): Promise<Warning[]> {
  return appliedWarnings(scope, 'control_id', [{ family: 'control', name }]);
}

/** The row of a control of the namespace. Throws CONTROL_NOT_FOUND. */
export async function existingControl(scope: Scoped, controlId: number): Promise<ControlRow> {
  const row = isRowId(controlId) ? await createControlStore(scope).find(controlId) : null;
  if (row === null) throw controlNotFound(controlId);
  return row;
}

/** The row of a control and its version. Throws CONTROL_NOT_FOUND. */
export async function controlWithVersion(
  scope: Scoped,
  controlId: number,
): Promise<{ row: ControlRow; version: number }> {
  // The version first: if a change comes in between it is too low, which an update notices, and never too high.
  const store = createControlVersionStore(scope);
  const version = isRowId(controlId) ? await store.lastNumber(controlId) : 0;
  return { row: await existingControl(scope, controlId), version };
}

/** The same in a transaction. Throws CONTROL_NOT_FOUND, or VERSION_MISMATCH. */
export async function demandedControl(
  scope: Scoped,
  controlId: number,
  ifVersion: IfVersion,
): Promise<{ row: ControlRow; version: number }> {
  const found = await controlWithVersion(scope, controlId);
  demandVersion(ifVersion, { kind: 'Control', name: String(controlId), version: found.version });
  return found;
}
