import { create } from '@bufbuild/protobuf';
import {
  type ControlResult,
  type EvaluateResponse,
  EvaluateResponseSchema,
  Outcome as OutcomeEnum,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { approvalOf } from './approvals.js';
import { haltOf, limitsOf, retryAfterMsOf } from './limits.js';
import { modificationOf } from './modification.js';
import type { Evaluation, Outcome } from './types.js';
import { isSafe, outcomeOf } from './verdict.js';

/** The outcomes as the service names them. */
export const OUTCOMES = {
  allow: OutcomeEnum.ALLOW,
  deny: OutcomeEnum.DENY,
  steer: OutcomeEnum.STEER,
  ask: OutcomeEnum.ASK,
  modify: OutcomeEnum.MODIFY,
} as const;
const UTF8 = new TextEncoder();
/** The more it forbids, the earlier. */
const SEVERITY: readonly Outcome[] = ['deny', 'steer', 'ask', 'modify', 'allow'];

/** An evaluation by the service. */
export function evaluatedBy(verdict: EvaluateResponse): Evaluation {
  const safe = isSafe(verdict);
  const outcome = outcomeOf(verdict);
  const modification = outcome === 'modify' ? modificationOf(verdict) : undefined;
  return {
    evaluated: true,
    isSafe: safe,
    // A change that this client does not understand is none.
    outcome: outcome === 'modify' && modification === undefined ? 'deny' : outcome,
    reason: safe ? undefined : verdict.reason,
    decisionId: verdict.decisionId,
    limits: limitsOf(verdict),
    halt: haltOf(verdict),
    approval: approvalOf(verdict),
    modification,
    retryAfterMs: safe ? undefined : retryAfterMsOf(verdict),
    verdict,
  };
}

/** The evaluation of the service together with the verdict of the controls of the client: the stricter one counts. */
export function withLocal(evaluation: Evaluation, local: EvaluateResponse): Evaluation {
  if (!evaluation.evaluated) {
    if (isSafe(local) || !evaluation.isSafe) return evaluation;
    return { ...evaluation, isSafe: false, reason: local.reason ?? evaluation.reason };
  }
  const { verdict } = evaluation;
  const outcomes = [evaluation.outcome, outcomeOf(local)];
  const outcome = SEVERITY.find((one) => outcomes.includes(one)) ?? 'deny';
  const { $typeName, $unknown, ...rest } = verdict;
  const both = create(EvaluateResponseSchema, {
    ...rest,
    isSafe: isSafe(verdict) && isSafe(local),
    confidence: Math.min(verdict.confidence, local.confidence),
    matches: byId(verdict.matches, local.matches),
    errors: byId(verdict.errors, local.errors),
    nonMatches: byId(verdict.nonMatches, local.nonMatches),
    outcome: OUTCOMES[outcome],
  });
  const counts = [verdict.selectedControls, local.selectedControls];
  const evaluated = [verdict.evaluatedControls, local.evaluatedControls];
  if (counts.includes(undefined)) {
    delete both.selectedControls;
    delete both.evaluatedControls;
  } else {
    both.selectedControls = sum(counts);
    both.evaluatedControls = sum(evaluated);
  }
  const skipped = [verdict.skippedControls, local.skippedControls];
  if (skipped.includes(undefined)) delete both.skippedControls;
  else both.skippedControls = sum(skipped);
  const reasons = [verdict, local].flatMap((one) => (isSafe(one) ? [] : (one.reason ?? [])));
  if (reasons.length === 0) delete both.reason;
  else both.reason = reasons.join('; ');
  return { ...evaluatedBy(both), outcome } as Evaluation;
}

/** The same for what proceeds, which is the changed step: the controls of the client look at it, too. */
export async function withLocalChange(
  both: Extract<Evaluation, { evaluated: true }>,
  decide: (stepJson: Uint8Array) => Promise<EvaluateResponse>,
): Promise<Evaluation> {
  const again = await decide(UTF8.encode(both.verdict.modification?.stepJson));
  return isSafe(again) ? both : withLocal(both, again);
}

function sum(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((total, count = 0) => total + count, 0);
}

function byId(left: readonly ControlResult[], right: readonly ControlResult[]): ControlResult[] {
  return [...left, ...right].sort((one, other) => other.controlId - one.controlId);
}
