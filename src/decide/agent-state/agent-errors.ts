import { callerError, type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';

export function agentNotFound(agentName: string): ServiceError {
  return callerError('AGENT_NOT_FOUND', {
    detail: `Agent "${agentName}" was not found.`,
    hint: 'Register the agent with initAgent first.',
    name: agentName,
    kind: 'Agent',
  });
}

/** The stored registration is unreadable. `items` only where the contract includes them. */
export function agentCorrupted(agentName: string, items?: readonly ErrorItem[]): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail: `The stored registration of agent "${agentName}" cannot be read.`,
    hint: 'Register the agent again with force_replace.',
    name: agentName,
    kind: 'Agent',
    ...(items === undefined ? {} : { items }),
  });
}

/** The single item for a registration that cannot be merged because it is unreadable. */
export const CORRUPTED_AGENT_ITEM: ErrorItem = {
  resource: 'Agent',
  field: 'data',
  code: 'corrupted_data',
  message: 'the stored registration cannot be read',
};
