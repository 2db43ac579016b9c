import type { ControlEvent } from '../../store/event.js';
import { type EventVerdict, storedVerdict } from '../../store/event-verdict.js';

/**
 * What a control did about a step:
 * - `allow`: it did not match, `observe`, `steer`, `deny`: it matched; a control that denies denies when its check fails, too;
 * - `ask`: the step waits for an approval, `approve`: a person approved it, and it may run, `reject`: a person refused it;
 * - `modify`: the step may run as the control, or an approver, changed it;
 * - `error`: the check of a control that does not deny failed, which decides nothing.
 */
export type ControlOutcome =
  | 'allow'
  | 'observe'
  | 'steer'
  | 'deny'
  | 'ask'
  | 'approve'
  | 'reject'
  | 'modify'
  | 'error';

export function controlOutcome(event: ControlEvent): ControlOutcome {
  const { matched, action, error_message: error } = event;
  if (!matched) return error === null ? 'allow' : action === 'deny' ? 'deny' : 'error';
  const verdict = action === 'deny' ? storedVerdict(event) : null;
  return verdict === null ? action : liftedOutcome(verdict);
}

function liftedOutcome({ outcome, approval }: EventVerdict): ControlOutcome {
  if (outcome === 'modify') return 'modify';
  if (outcome === 'allow') return 'approve';
  // A caller that cannot wait is told to deny the step, which may run once it is approved.
  if (outcome === 'ask' || approval?.state === 'pending') return 'ask';
  return approval?.state === 'denied' ? 'reject' : 'deny';
}
