import { clone, create } from '@bufbuild/protobuf';
import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult,
  type EvaluateResponse,
  EvaluateResponseSchema,
  EvaluatorResultSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  ApprovalDeniedError,
  ApprovalExpiredError,
  ApprovalRequiredError,
  type CheckedStep,
  DeniedError,
  NotEvaluatedError,
  SteerError,
} from './errors.js';
import type { Evaluated, Evaluation, Modification, Outcome } from './types.js';
import { isDenying } from './verdict.js';

/**
 * Throws the error of a step that must not proceed. Returns the modification without which it must not, if `accepts` has it; none
 * if it may proceed unchanged.
 */
export function throwUnlessSafe(
  evaluation: Evaluation,
  checked: CheckedStep,
  accepts: readonly Outcome[],
): Modification | undefined {
  if (evaluation.isSafe) return undefined;
  const modification = evaluation.evaluated ? evaluation.modification : undefined;
  if (modification !== undefined && accepts.includes('modify')) return modification;
  const when = checked.stage === 'pre' ? 'before' : 'after';
  if (!evaluation.evaluated) {
    const message = `Step "${checked.step}" could not be checked ${when} it ran, so it counts as denied. Try again later.`;
    throw new NotEvaluatedError(message, checked, evaluation.error);
  }
  const { matches, errors } = evaluation.verdict;
  const verdict = checked.stage === 'post' ? withoutExplanations(evaluation.verdict) : evaluation.verdict;
  const denying = [...matches, ...errors].filter(isDenying);
  const steering = matches.filter((one) => one.action === Decision.STEER);
  if (evaluation.outcome !== 'steer') {
    const names = namesOf(denying);
    throwIfNotApproved(evaluation, checked, names, verdict);
    const message = `Step "${checked.step}" was denied ${when} it ran${by(names)}. ${adviceOf(evaluation)}`;
    throw new DeniedError(message, checked, names, verdict);
  }
  const names = namesOf(steering);
  const guidance = {
    message: steering.flatMap((one) => one.steeringContext?.message ?? []).join('\n'),
    requiredActions: [...new Set(steering.flatMap((one) => one.steeringContext?.requiredActions ?? []))],
  };
  const actions =
    guidance.requiredActions.length === 0
      ? ''
      : ` Required before it is repeated: ${guidance.requiredActions.join('; ')}.`;
  const advice = guidance.message === '' ? '.' : `: ${guidance.message}`;
  const message = `Step "${checked.step}" was steered ${when} it ran${by(names)}${advice}${actions}`;
  throw new SteerError(message, checked, names, verdict, guidance);
}

/** Throws the error of a step that waits for an approval, or was not approved. */
function throwIfNotApproved(
  { outcome, approval }: Evaluated,
  checked: CheckedStep,
  names: readonly string[],
  verdict: EvaluateResponse,
): void {
  if (approval === undefined) return;
  const { id, state, reason } = approval;
  const step = `Step "${checked.step}"`;
  const because = reason === undefined ? '' : `: ${reason}`;
  if (outcome === 'ask') {
    const message = `${step} did not run, because a person must approve it (approval ${id})${by(names)}. Repeat it once it is approved.`;
    throw new ApprovalRequiredError(message, checked, names, verdict, approval);
  }
  if (state === 'denied') {
    const message = `${step} did not run: its approval (${id}) was denied${because}. Do not repeat it unchanged.`;
    throw new ApprovalDeniedError(message, checked, names, verdict, approval);
  }
  if (state === 'expired' || state === 'cancelled') {
    const what = state === 'expired' ? 'has expired' : 'was cancelled';
    const message = `${step} did not run: its approval (${id}) ${what}${because}.`;
    throw new ApprovalExpiredError(message, checked, names, verdict, approval);
  }
}

function adviceOf({ halt, retryAfterMs }: Evaluated): string {
  if (halt !== undefined) return `Such steps are halted: ${halt.reason}`;
  if (retryAfterMs === undefined) return 'A policy forbids it: do not repeat it unchanged.';
  return `A limit is reached: repeat it no earlier than in ${Math.ceil(retryAfterMs / 1_000)} s.`;
}

function namesOf(results: readonly ControlResult[]): string[] {
  return results.map((one) => one.controlName);
}

function by(names: readonly string[]): string {
  return names.length === 0 ? '' : ` by ${names.map((name) => `"${name}"`).join(', ')}`;
}

/** A verdict without explanations of evaluators, because they quote the data. */
function withoutExplanations(verdict: EvaluateResponse): EvaluateResponse {
  const bare = clone(EvaluateResponseSchema, verdict);
  delete bare.reason;
  for (const one of [...bare.matches, ...bare.errors, ...bare.nonMatches]) {
    const { matched = false, confidence = 0 } = one.result ?? {};
    one.result = create(EvaluatorResultSchema, { matched, confidence });
  }
  return bare;
}
