import { originOfCall } from '../../storage/database/audit-log.js';
import type { ApprovalAnswer, ApprovalNotice, AskedStep, UsedApproval } from '../decisions/approval-gate.js';

export type Unusable = Exclude<ApprovalAnswer, { kind: 'approved' }>;
/** An answer, or that there is none yet. */
export type Found = ApprovalAnswer | null;

export function refused(reason: string): Unusable {
  return { kind: 'refused', notice: null, reason };
}

export function waits(notice: ApprovalNotice): Unusable {
  const names = notice.controls.map(({ name }) => `"${name}"`).join(', ');
  const of = notice.controls.length === 1 ? 'control' : 'controls';
  return { kind: 'waits', notice, reason: `approval ${notice.id} is needed, for ${of} ${names}` };
}

/** An approval that the same call has used before stays used. */
export function usedBefore(notice: ApprovalNotice): UsedApproval {
  return { notice, giveBack: async () => undefined };
}

/** The entry of the audit log about what a step did with an approval. */
export function auditOf(
  action: 'approval.ask' | 'approval.use' | 'approval.give_back',
  id: number,
  { caller, step }: AskedStep,
  after: { readonly [member: string]: string | number | { id: number; version: number }[] },
  nowMs: number,
) {
  const origin = originOfCall(caller, nowMs);
  return {
    action,
    resource: 'approval',
    id: String(id),
    name: step.name,
    before: null,
    after,
    origin,
  } as const;
}
