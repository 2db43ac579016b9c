import { ServiceError } from '../contract/errors/service-error.js';

/** Only admin keys may try definitions that nobody has stored. */
export function trialIsForAdmins(): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'Evaluating a definition given as data needs an admin key.',
    hint: 'Use a key from SERVICE_ADMIN_API_KEYS, or explain the stored controls of an agent.',
  });
}

/** A control that is to be explained, and that the agent does not have. */
export function notControlOfAgent(controlId: number, agentName: string): ServiceError {
  return new ServiceError('CONTROL_NOT_FOUND', {
    detail: `Control ${controlId} was not found among the controls of agent "${agentName}".`,
    hint: 'Name controls that are linked to the agent or belong to one of its policies, or leave control_ids out.',
    name: String(controlId),
    kind: 'Control',
  });
}
