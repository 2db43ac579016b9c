import { ServiceError } from '../contract/errors/service-error.js';

/** The event store is switched off. It stays so until the service is started anew, so there is no time for a retry. */
export function observabilityOff(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: 'Observability is switched off: events are neither stored nor counted.',
    hint: 'Start the service with SERVICE_OBSERVABILITY_ENABLED=true.',
  });
}
