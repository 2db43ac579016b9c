import { usePending } from './use-pending.js';

/** The number of steps that wait for a decision of the caller; nothing if there are none. */
export default function PendingBadge() {
  const total = usePending().data?.pagination?.total ?? 0;
  if (total === 0) return null;
  return (
    <span className="pending-count">
      {total.toLocaleString()}
      <span className="visually-hidden"> waiting</span>
    </span>
  );
}
