import { useQuery } from '@connectrpc/connect-query';
import { ApprovalState } from '@gen/enforcement/v1/approval_pb.js';
import { ApprovalService } from '@gen/enforcement/v1/approval_service_pb.js';
import { useSession } from '../session/session-context.js';

/** The latest ones are read, for notifications; the number is that of all. */
const READ = 20;

/** The pending approvals that the caller is an approver of: those of everyone where no keys are required. */
export function usePending() {
  const { state } = useSession();
  const isMine = state.kind === 'ready' && state.keysRequired;
  return useQuery(ApprovalService.method.listApprovals, {
    state: ApprovalState.PENDING,
    limit: READ,
    ...(isMine ? { mine: true } : {}),
  });
}
