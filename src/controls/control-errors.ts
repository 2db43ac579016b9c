import { type ErrorItem, ServiceError } from '../errors/service-error.js';

export function controlNotFound(controlId: number): ServiceError {
  return new ServiceError('CONTROL_NOT_FOUND', {
    detail: `There is no control ${controlId}.`,
    hint: 'Check the id; deleted controls do not come back.',
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

export function controlInUse(name: string, agentNames: readonly string[]): ServiceError {
  return new ServiceError('CONTROL_IN_USE', {
    detail: `The control "${name}" is linked to ${agentNames.length} agent(s).`,
    hint: 'Unlink it first, or delete it with force=true.',
    name,
    kind: 'Control',
    items: agentNames.map((agentName) => ({
      resource: 'Agent',
      field: 'controls',
      code: 'control_in_use',
      message: 'has this control linked',
      value: agentName,
    })),
  });
}

/** The stored definition cannot be read. `name` is shown where the contract shows one. */
export function controlCorrupted(detail: string, items: readonly ErrorItem[], name?: string): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail,
    hint: 'Replace the definition with PUT /controls/{id}/data.',
    kind: 'Control',
    items,
    ...(name === undefined ? {} : { name }),
  });
}

/** The single item for stored data that cannot be changed because they cannot be read. */
export const CORRUPTED_ITEM: ErrorItem = {
  resource: 'Control',
  field: 'data',
  code: 'corrupted_data',
  message: 'the stored definition cannot be read',
};
