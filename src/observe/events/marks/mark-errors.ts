import { ServiceError } from '../../../contract/errors/service-error.js';
import { invalidRequest } from '../../../contract/input/parse-input.js';

export function eventNotFound(controlExecutionId: string): ServiceError {
  return new ServiceError('EVENT_NOT_FOUND', {
    detail: 'No event has this control_execution_id, or it was deleted because of its age.',
    hint: 'Query the events with POST /observability/events/query.',
    name: controlExecutionId,
    kind: 'Event',
  });
}

/** The event is one of another control. */
export function otherControl(controlId: number): ServiceError {
  return invalid('control_id', 'value_error', `must be the control of the event, which is ${controlId}`);
}

/** The control did not match, or could not be checked. */
export function noMatch(): ServiceError {
  return invalid('control_execution_id', 'value_error', 'must be the id of an event with a match');
}

export function tooManyMarks(limit: number): ServiceError {
  const rule = `must be one of at most ${limit} marked matches of the namespace: take marks away that are not needed any more`;
  return invalid('control_execution_id', 'too_many_marks', rule);
}

function invalid(field: string, code: string, message: string): ServiceError {
  return invalidRequest([{ resource: 'Event', field, code, message }]);
}
