import { timestampDate } from '@bufbuild/protobuf/wkt';
import { ApprovalState as StateEnum } from '../../../gen/proto/enforcement/v1/approval_pb.js';
import {
  ApprovalDecision,
  type Approval as ApprovalMessage,
} from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import type { EvaluateResponse } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';

/**
 * State of an approval. `used`: it was approved, and cannot be used again. A state that this client does not know is
 * `pending`, which lets nothing pass.
 */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled' | 'used';

/** The decision of a person that a step waits for, or that let it pass. */
export interface Approval {
  readonly id: number;
  readonly state: ApprovalState;
  /** When it expires. */
  readonly expiresAt: Date;
  /** SHA-256 of the step that it is about: of the changed one, if controls change it. */
  readonly stepSha256: string;
  /** The controls that ask. */
  readonly controls: readonly { readonly controlId: number; readonly controlName: string }[];
  /** What the approver says about a denial, or why it ended otherwise; undefined if that is not known. */
  readonly reason: string | undefined;
}

const STATES: { readonly [state: number]: ApprovalState } = {
  [StateEnum.APPROVED]: 'approved',
  [StateEnum.DENIED]: 'denied',
  [StateEnum.EXPIRED]: 'expired',
  [StateEnum.CANCELLED]: 'cancelled',
  [StateEnum.USED]: 'used',
};

/** The approval of a verdict; undefined without one. */
export function approvalOf({ approval }: EvaluateResponse): Approval | undefined {
  if (approval === undefined) return undefined;
  const { id, state, expiresAt, stepSha256, controls } = approval;
  return {
    id,
    state: STATES[state] ?? 'pending',
    expiresAt: expiresAt === undefined ? new Date(0) : timestampDate(expiresAt),
    stepSha256,
    controls: controls.map(({ controlId, controlName }) => ({ controlId, controlName })),
    reason: undefined,
  };
}

/** An approval of a verdict after what the service says of it later. */
export function approvalAfter(approval: Approval, { state, votes, endReason }: ApprovalMessage): Approval {
  const denial = votes.findLast(({ decision }) => decision === ApprovalDecision.DENY);
  return { ...approval, state: STATES[state] ?? 'pending', reason: denial?.comment ?? endReason };
}

/** Whether the match of a control is one that a person has approved. */
export function isApproved(controlId: number, { approval }: EvaluateResponse): boolean {
  if (approval?.state !== StateEnum.APPROVED && approval?.state !== StateEnum.USED) return false;
  return approval.controls.some((one) => one.controlId === controlId);
}
