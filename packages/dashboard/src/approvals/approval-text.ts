import { ApprovalState } from '@gen/enforcement/v1/approval_pb.js';
import {
  type Approval,
  type ApprovalControl,
  ApprovalDecision,
} from '@gen/enforcement/v1/approval_service_pb.js';
import { visibleText } from '../ui/visible-text.js';

/** Each state as it is in addresses, with its name and the class of its badge. */
export const STATES = [
  ['pending', ApprovalState.PENDING, 'waits for a decision', 'steer'],
  ['approved', ApprovalState.APPROVED, 'approved', 'safe'],
  ['denied', ApprovalState.DENIED, 'denied', 'deny'],
  ['expired', ApprovalState.EXPIRED, 'expired', ''],
  ['cancelled', ApprovalState.CANCELLED, 'cancelled', ''],
  ['used', ApprovalState.USED, 'approved and used', 'safe'],
] as const;

export function stateOf(state: ApprovalState): readonly [name: string, badge: string] {
  const found = STATES.find(([, one]) => one === state);
  return found === undefined ? ['unknown', ''] : [found[2], found[3]];
}

/** Whether a person can still vote about it. */
export function isPending({ state }: Pick<Approval, 'state'>): boolean {
  return state === ApprovalState.PENDING;
}

export function decisionText(decision: ApprovalDecision): string {
  return decision === ApprovalDecision.APPROVE ? 'approved' : 'denied';
}

/** The question, with everything in it seen. */
export function questionText({ question }: Pick<Approval, 'question'>): string {
  return visibleText(question);
}

/** Type and name of the step, for example `tool send_money`. */
export function stepText({ stepType, stepName }: Pick<Approval, 'stepType' | 'stepName'>): string {
  return visibleText(`${stepType} ${stepName}`);
}

/** How far a control is from its quorum, for example `1 of 2 people have approved`. */
export function quorumText({ approved, quorum }: Pick<ApprovalControl, 'approved' | 'quorum'>): string {
  return `${approved} of ${quorum} ${quorum === 1 ? 'person has' : 'people have'} approved`;
}

/** An approver as a control names it, for example `role approver`. */
export function approverText(approver: string): string {
  const [kind = '', ...name] = approver.split(':');
  return visibleText(kind === 'role' ? `everyone with the role ${name.join(':')}` : name.join(':'));
}
