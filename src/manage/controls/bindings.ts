import type { TargetName } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { BindingRow } from './control-binding-store.js';
import { readAgentScopedName } from './definition/agent-scoped-name.js';
import { evaluatorNames } from './definition/definition.js';
import { readStoredDefinition } from './definition-presentation.js';

/**
 * Any agent may work on a target. Throws CONTROL_BINDING_INCOMPATIBLE for a control that names an evaluator which only some
 * agents have, or that cannot be read.
 */
export function demandBindable({ id, name, data }: StoredDefinition, registry: EvaluatorRegistry): void {
  const stored = readStoredDefinition(data, registry);
  const names = stored.ok ? evaluatorNames(stored.stored) : null;
  const scoped = names?.find((one) => readAgentScopedName(one) !== undefined);
  if (names !== null && scoped === undefined) return;
  const reason =
    names === null ? 'its definition cannot be read' : `it names the evaluator "${scoped}" of one agent`;
  throw new ServiceError('CONTROL_BINDING_INCOMPATIBLE', {
    detail: `The control "${name}" cannot be bound to a target: ${reason}.`,
    hint: 'Link the control to agents, or bind a control with evaluators that every agent has.',
    name: String(id),
    kind: 'ControlBinding',
    items: [
      {
        resource: 'ControlBinding',
        field: 'control_id',
        code: 'incompatible',
        message: reason,
        value: id,
      },
    ],
  });
}

/** A change of a binding for the audit log; null stands for none. */
export function bindingFact(before: BindingRow | null, after: BindingRow | null): AuditFact {
  const what = before === null ? 'create' : after === null ? 'delete' : 'update';
  const id = (after ?? before)?.id;
  return {
    action: `control_binding.${what}`,
    resource: 'control_binding',
    id: id === undefined ? null : String(id),
    before: before && bindingState(before),
    after: after && bindingState(after),
  };
}

/** A binding as the audit log shows it. */
function bindingState({ targetType, targetId, controlId, enabled }: BindingRow) {
  return { target_type: targetType, target_id: targetId, control_id: controlId, enabled };
}

/** The key of the target of a binding. */
export function targetKeyOf({ namespace }: Pick<Scoped, 'namespace'>, row: BindingRow) {
  const target: TargetName = { type: row.targetType, id: row.targetId };
  return namespace.targetKey(target);
}
