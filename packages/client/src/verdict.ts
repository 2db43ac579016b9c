import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult,
  type EvaluateResponse,
  Outcome as OutcomeEnum,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { isApproved } from './approvals.js';
import type { Outcome } from './types.js';

/**
 * Whether a step may proceed unchanged: only when the service says so and nothing in the verdict says otherwise, but for
 * matches that a person has approved. An
 * outcome or a decision that this client does not know is of a later service, and never safe.
 */
export function isSafe(verdict: EvaluateResponse): boolean {
  return (
    verdict.isSafe === true &&
    // Services before version 7.6 leave it unspecified.
    (verdict.outcome === OutcomeEnum.UNSPECIFIED || verdict.outcome === OutcomeEnum.ALLOW) &&
    verdict.matches.every(
      ({ action, controlId }) =>
        action === Decision.OBSERVE || (action === Decision.DENY && isApproved(controlId, verdict)),
    ) &&
    !verdict.errors.some(isDenying)
  );
}

/** The verdict in one word. Everything that is not understood is `deny`. */
export function outcomeOf(verdict: EvaluateResponse): Outcome {
  if (isSafe(verdict)) return 'allow';
  switch (verdict.outcome) {
    case OutcomeEnum.ASK:
      return verdict.approval === undefined ? 'deny' : 'ask';
    case OutcomeEnum.MODIFY:
      return verdict.modification === undefined ? 'deny' : 'modify';
    case OutcomeEnum.STEER:
    case OutcomeEnum.UNSPECIFIED:
      return isSteered(verdict) ? 'steer' : 'deny';
    default:
      return 'deny';
  }
}

/** Whether a control would deny the step, alone or because it could not be evaluated. */
export function isDenying({ action }: ControlResult): boolean {
  return action !== Decision.STEER && action !== Decision.OBSERVE;
}

function isSteered({ matches, errors }: EvaluateResponse): boolean {
  return matches.some(({ action }) => action === Decision.STEER) && ![...matches, ...errors].some(isDenying);
}
