import type { ApprovalState } from '@gen/enforcement/v1/approval_pb.js';
import { stateOf } from './approval-text.js';

export function StateBadge({ state }: { readonly state: ApprovalState }) {
  const [name, badge] = stateOf(state);
  return <span className={`badge ${badge}`}>{name}</span>;
}
