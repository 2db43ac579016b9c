import type { ApprovalWaits } from './approval-waits.js';
import type { Approval } from './approvals.js';
import { newId } from './new-id.js';
import { pauseMs, resting } from './pause.js';
import { milliseconds } from './settings.js';
import type { Evaluation, EvaluationOptions, EvaluationRequest, WaitForApproval } from './types.js';
import type { Evaluate } from './wait-for-limits.js';

/**
 * Evaluates a step, and if it needs an approval, waits for the decision and evaluates it again, with the same step id: only that
 * verdict lets it proceed. The evaluation of a step that was not approved has the outcome `deny` and the approval; that of one
 * that does not wait any longer has the outcome `ask`.
 */
export async function evaluateApproved(
  evaluate: Evaluate,
  request: EvaluationRequest & { readonly agent: string },
  given: EvaluationOptions,
  { maxWaitMs, onAsk }: WaitForApproval,
  approvals: ApprovalWaits,
): Promise<Evaluation> {
  const deadline =
    maxWaitMs === undefined
      ? Number.POSITIVE_INFINITY
      : performance.now() + milliseconds('maxWaitMs', maxWaitMs, 1);
  const accepts = [...(given.accepts ?? ['steer']), 'ask'] as const;
  const options = { ...given, accepts: [...new Set(accepts)], stepId: given.stepId ?? newId() };
  let evaluation = await evaluate(request, options);
  let last: Approval | undefined;
  for (let repeats = 0; ; ) {
    if (!evaluation.evaluated || evaluation.outcome !== 'ask') return evaluation;
    const { approval } = evaluation;
    if (approval === undefined) return evaluation;
    if (approval.id !== last?.id) {
      repeats = 0;
      // Everything but "wait" is no decision to wait.
      if (onAsk !== undefined && (await onAsk(approval, request.step)) !== 'wait') return evaluation;
    } else {
      // It was approved, and something else happened meanwhile: the service decides, at its pace.
      await resting(pauseMs(repeats++), given.signal);
      given.signal?.throwIfAborted();
    }
    last = approval;
    const ended = await approvals.end(request.agent, approval, deadline, given.signal);
    if (ended === undefined) return evaluation;
    if (ended.state !== 'approved' && ended.state !== 'used')
      return { ...evaluation, outcome: 'deny', approval: ended };
    // Without an answer it does not proceed: the approver may have changed it.
    evaluation = await evaluate(request, { ...options, onUnavailable: 'deny' });
  }
}
