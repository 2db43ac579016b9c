import { ServiceError } from '../../contract/errors/service-error.js';

export function shadowNotFound(controlId: number): ServiceError {
  return new ServiceError('SHADOW_NOT_FOUND', {
    detail: `A shadow of control ${controlId} was not found: none is set.`,
    hint: 'Set one with PUT /controls/ID/shadow, or list those that are set with GET /shadows.',
    name: String(controlId),
    kind: 'Control',
  });
}

/** The shadow is not the one that the caller has seen, or the control was changed since it was set. */
export function shadowChanged(controlId: number, problem: string): ServiceError {
  return new ServiceError('SHADOW_CHANGED', {
    detail: `The shadow of control ${controlId} cannot be promoted: ${problem}.`,
    hint: 'Look at the shadow and at the control again. To compare with the control as it is now, set the shadow anew.',
    name: String(controlId),
    kind: 'Control',
  });
}

export function tooManyShadows(limit: number): ServiceError {
  return refusedShadow(
    'control_id',
    'too_many_shadows',
    `must be one of at most ${limit} controls with a shadow`,
    {
      detail: `There are already ${limit} controls with a shadow in this namespace, which is the most.`,
      hint: 'Promote or drop shadows that are not compared any more.',
    },
  );
}

export function draftAsShadow(): ServiceError {
  return refusedShadow('data', 'incomplete_template', 'must be complete: a draft cannot be evaluated', {
    detail: 'The template has parameters without a value, and a draft cannot be evaluated as a shadow.',
    hint: 'Give every parameter of the template a value.',
  });
}

function refusedShadow(
  field: string,
  code: string,
  message: string,
  texts: { readonly detail: string; readonly hint: string },
): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    ...texts,
    kind: 'Control',
    items: [{ resource: 'Control', field, code, message }],
  });
}
