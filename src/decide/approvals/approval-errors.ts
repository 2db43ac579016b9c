import { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';

export function approvalNotFound(approvalId: number): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', {
    detail: `Approval ${approvalId} was not found.`,
    hint: 'List the approvals with GET /approvals.',
    name: String(approvalId),
    kind: 'Approval',
  });
}

/** Another state or another step than the caller knows of. */
export function approvalConflict(approvalId: number, problem: string): ServiceError {
  return new ServiceError('APPROVAL_CONFLICT', {
    detail: `Approval ${approvalId} ${problem}.`,
    hint: 'Read the approval again with GET /approvals/{approval_id}.',
    name: String(approvalId),
    kind: 'Approval',
  });
}

export function notApprover(reason: string): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The caller may not decide about this approval: ${reason}.`,
    hint: 'Use a key or a token of one of its approvers; see controls.approvers of the approval.',
  });
}

/** A member of a request that is wrong for what is stored. */
export function wrongMember(field: string, code: string, message: string): ServiceError {
  return invalidRequest([{ resource: 'Request', field, code, message }]);
}
