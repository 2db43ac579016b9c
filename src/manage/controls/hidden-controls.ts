import { quoted } from '../../contract/errors/quoted.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createControlBindingStore } from './control-binding-store.js';
import { type ControlDefinition, isDraft } from './definition/definition.js';
import { readStoredDefinition } from './definition-presentation.js';
import { isHiddenBy } from './definition-warnings/hiding-deny.js';
import { createHiddenControlStore } from './hidden-control-store.js';
import { named } from './link-warnings.js';

/** A control that denies, with its definition. */
export interface DenyingControl {
  readonly id: number;
  readonly name: string;
  readonly definition: ControlDefinition;
}

/** Most controls that deny with which each control of an agent is compared. */
const MAX_DENYING = 200;

/**
 * A warning if a control that denies hides a control from all agents that have it. `definition` is the one that is stored,
 * or takes its place. Never rejects: a change may have been made before.
 */
export async function hiddenWarnings(
  scope: Scoped,
  controlId: number,
  definition: ControlDefinition,
  registry: EvaluatorRegistry,
): Promise<Warning[]> {
  if (definition.action.decision === 'observe' || !definition.enabled || !isRowId(controlId)) return [];
  try {
    // On a target, agents may have it that have nothing else in common.
    if ((await createControlBindingStore(scope).idsOf(controlId)).length > 0) return [];
    const store = createHiddenControlStore(scope);
    for (const deny of denyingControls((await store.deniesBeside(controlId)) ?? [], registry)) {
      if (!hides(deny, controlId, definition, registry)) continue;
      if (await store.allHave(controlId, deny.id)) {
        return [hiddenWarning(deny, 'all agents that have this control have too')];
      }
    }
    return [];
  } catch {
    const message = 'the other controls of its agents could not be read, so nothing was compared with them';
    return [{ code: 'registrations_not_read', field: 'data', message }];
  }
}

/** The same for a stored control that was linked or added to a policy, with its name. Never rejects. */
export async function hiddenLinkWarnings(
  scope: Scoped,
  control: StoredDefinition,
  registry: EvaluatorRegistry,
): Promise<Warning[]> {
  const read = readStoredDefinition(control.data, registry);
  if (!read.ok || isDraft(read.stored)) return [];
  const warnings = await hiddenWarnings(scope, control.id, read.stored, registry);
  return warnings.map((warning) => named(control, warning));
}

/** The same among controls that one agent has; `denying` are those of them that deny. */
export function hiddenAmong(
  denying: readonly DenyingControl[],
  controlId: number,
  definition: ControlDefinition,
  registry: EvaluatorRegistry,
): Warning[] {
  const deny = denying.find((one) => hides(one, controlId, definition, registry));
  return deny === undefined ? [] : [hiddenWarning(deny, 'this agent has too')];
}

/** Those of some stored controls that can be read and deny; at most some hundred. */
export function denyingControls(
  rows: readonly StoredDefinition[],
  registry: EvaluatorRegistry,
): DenyingControl[] {
  const denying: DenyingControl[] = [];
  for (const { id, name, data } of rows) {
    if (denying.length >= MAX_DENYING) break;
    // Reading costs more than this look at the text.
    if (!data.includes('"deny"')) continue;
    const read = readStoredDefinition(data, registry);
    if (!read.ok || isDraft(read.stored)) continue;
    if (read.stored.action.decision === 'deny') denying.push({ id, name, definition: read.stored });
  }
  return denying;
}

function hides(
  deny: DenyingControl,
  controlId: number,
  definition: ControlDefinition,
  registry: EvaluatorRegistry,
): boolean {
  if (deny.id === controlId) return false;
  // Of two that deny the same, the older one hides the newer one.
  if (definition.action.decision === 'deny' && deny.id > controlId) return false;
  return isHiddenBy(definition, deny.definition, registry);
}

function hiddenWarning({ id, name }: DenyingControl, whose: string): Warning {
  const message =
    `every step that this control matches is denied by the control ${quoted(name)} (${id}), which ${whose}: ` +
    'it has no effect; narrow the other one, or delete this one';
  return { code: 'hidden_by_deny', field: 'data.condition', message };
}
