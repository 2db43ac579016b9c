import { type ErrorItem, type ErrorResource, ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';

export function controlNotFound(controlId: number): ServiceError {
  return new ServiceError('CONTROL_NOT_FOUND', {
    detail: `Control ${controlId} was not found.`,
    hint: 'Check the id; ids of deleted controls are not reused.',
    name: String(controlId),
    kind: 'Control',
  });
}

export function controlNameConflict(name: string): ServiceError {
  return new ServiceError('CONTROL_NAME_CONFLICT', {
    detail: `The name "${name}" is taken by another control.`,
    hint: 'Choose another name, or change the existing control.',
    name,
    kind: 'Control',
    items: [{ resource: 'Control', field: 'name', code: 'name_conflict', message: 'is taken', value: name }],
  });
}

/** Lists the policies with the control first, then the agents it is linked to, then its bindings; at most MAX_ERROR_ITEMS. */
export function controlInUse(
  name: string,
  policyIds: readonly number[],
  agentNames: readonly string[],
  bindingIds: readonly number[],
): ServiceError {
  const usedBy = (resource: ErrorResource, value: number | string, field = 'controls'): ErrorItem => ({
    resource,
    field,
    code: 'control_in_use',
    message: 'uses this control',
    value,
  });
  return new ServiceError('CONTROL_IN_USE', {
    detail: `The control "${name}" is ${placesOf(policyIds.length, agentNames.length, bindingIds.length)}.`,
    hint: 'Unlink it first, or delete it with force=true.',
    name,
    kind: 'Control',
    items: [
      ...policyIds.map((policyId) => usedBy('Policy', policyId)),
      ...agentNames.map((agentName) => usedBy('Agent', agentName)),
      ...bindingIds.map((bindingId) => usedBy('ControlBinding', bindingId, 'control_id')),
    ].slice(0, MAX_ERROR_ITEMS),
  });
}

/** Where a control is in use, for example "in 2 policies, linked to 1 agent and bound to 1 target". */
function placesOf(policies: number, agents: number, targets: number): string {
  const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  const places = [
    policies === 0 ? '' : `in ${counted(policies, 'policy', 'policies')}`,
    agents === 0 ? '' : `linked to ${counted(agents, 'agent', 'agents')}`,
    targets === 0 ? '' : `bound to ${counted(targets, 'target', 'targets')}`,
  ].filter((place) => place !== '');
  const last = places.pop() ?? '';
  return places.length === 0 ? last : `${places.join(', ')} and ${last}`;
}

/** A literal definition would replace one made from a template. */
export function controlTemplateConflict(controlId: number): ServiceError {
  return new ServiceError('CONTROL_TEMPLATE_CONFLICT', {
    detail: `The definition of control ${controlId} is made from a template.`,
    hint: 'Send the template with its values, or create another control.',
    name: String(controlId),
    kind: 'Control',
    items: [
      {
        resource: 'Control',
        field: 'data',
        code: 'template_backed_control_conflict',
        message: 'must be a template with values',
      },
    ],
  });
}

/** A template with missing values cannot be enabled. */
export function draftCannotBeEnabled(controlId: number): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `The template of control ${controlId} still lacks values, so there is nothing to enable.`,
    hint: 'Send all values with PUT /controls/{id}/data, then enable the control.',
    name: String(controlId),
    kind: 'Control',
    items: [
      {
        resource: 'Control',
        field: 'enabled',
        code: 'unrendered_template_cannot_enable',
        message: 'the template of this control still lacks values',
      },
    ],
  });
}

/** The stored definition is unreadable. `name` is given where the contract includes one. */
export function controlCorrupted(detail: string, items: readonly ErrorItem[], name?: string): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail,
    hint: 'Replace the definition with PUT /controls/{id}/data.',
    kind: 'Control',
    items,
    ...(name === undefined ? {} : { name }),
  });
}

/** The single item for stored data that cannot be changed because they are unreadable. */
export const CORRUPTED_ITEM: ErrorItem = {
  resource: 'Control',
  field: 'data',
  code: 'corrupted_data',
  message: 'the stored definition cannot be read',
};

/** The control exists, or once existed; the version does not. */
export function controlVersionNotFound(controlId: number, versionNum: number): ServiceError {
  return new ServiceError('CONTROL_VERSION_NOT_FOUND', {
    detail: `Version ${versionNum} of control ${controlId} was not found.`,
    hint: 'List the versions of the control to see which there are.',
    name: String(controlId),
    kind: 'Control',
  });
}

/** The content of the version is unreadable, so it cannot become current again. */
export function controlVersionCorrupted(
  controlId: number,
  versionNum: number,
  items: readonly ErrorItem[],
): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail: `The definition in version ${versionNum} of control ${controlId} cannot be read.`,
    hint: 'Restore another version, or send a definition with PUT /controls/{id}/data.',
    name: String(controlId),
    kind: 'Control',
    items,
  });
}
