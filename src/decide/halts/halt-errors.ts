import { ServiceError } from '../../contract/errors/service-error.js';

export function haltNotFound(haltId: number): ServiceError {
  return new ServiceError('HALT_NOT_FOUND', {
    detail: `Halt ${haltId} was not found.`,
    hint: 'List the halts with GET /halts.',
    name: String(haltId),
    kind: 'Halt',
  });
}

/** The halt concerns all namespaces, and the caller may only change its own. */
export function beyondNamespace(): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'A halt of the installation needs the scope namespaces.write.',
    hint: 'Use a key with the role operator, or halt the namespace.',
  });
}

export function tooManyHalts(limit: number): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `There are already ${limit} halts in force, which is the most.`,
    hint: 'Lift halts that are not needed any more, or create one with a wider scope.',
    kind: 'Halt',
    items: [
      {
        resource: 'Halt',
        field: 'scope',
        code: 'too_many_halts',
        message: `must be one of at most ${limit} halts in force`,
      },
    ],
  });
}
