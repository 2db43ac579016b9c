import { callerError, ServiceError } from '../../contract/errors/service-error.js';
import { SHAPE_HINT } from '../../contract/input/parse-input.js';

export function bindingNotFound(bindingId: number): ServiceError {
  return new ServiceError('CONTROL_BINDING_NOT_FOUND', {
    detail: `Control binding ${bindingId} was not found.`,
    hint: 'List the bindings of the control or of the target, and correct the id.',
    name: String(bindingId),
    kind: 'ControlBinding',
  });
}

/** The control is not bound to the target, or does not exist. */
export function notBound(controlId: number): ServiceError {
  return new ServiceError('CONTROL_BINDING_NOT_FOUND', {
    detail: `Control ${controlId} is not bound to this target.`,
    hint: 'Bind it with PUT /control-bindings/by-key.',
    name: String(controlId),
    kind: 'ControlBinding',
  });
}

export function bindingConflict(controlId: number): ServiceError {
  return new ServiceError('CONTROL_BINDING_CONFLICT', {
    detail: `Control ${controlId} is already bound to this target.`,
    hint: 'Change the binding with PUT /control-bindings/by-key.',
    name: String(controlId),
    kind: 'ControlBinding',
    items: [
      {
        resource: 'ControlBinding',
        field: 'control_id',
        code: 'binding_conflict',
        message: 'is already bound to this target',
        value: controlId,
      },
    ],
  });
}

/** The cursor is none that a list returned. Deployed clients expect the status 400. */
export function badCursor(cursor: string): ServiceError {
  const message = 'must be next_cursor of the previous page';
  return callerError('VALIDATION_ERROR', {
    detail: 'Request validation failed: 1 problem in the request',
    hint: SHAPE_HINT,
    httpStatus: 400,
    requestValidation: true,
    items: [{ resource: 'Request', field: 'cursor', code: 'invalid_format', message, value: cursor }],
  });
}
