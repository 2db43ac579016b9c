import { callerError, type ServiceError } from './service-error.js';

/** The error of a caller whose namespace does not exist, or does not exist any more. */
export function unknownNamespace(name: string): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The namespace "${name}" of the caller does not exist, or was deleted.`,
    hint: 'Use a key, token or session of a namespace that exists. An operator creates it with POST /namespaces.',
  });
}
