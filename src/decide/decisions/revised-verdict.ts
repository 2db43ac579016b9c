import type { TargetName } from '../../contract/call/namespace.js';
import { keptMetadata } from '../../kernel/core/decided-result.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import type { ControlResult, Stage, Step, Verdict } from '../../kernel/core/types.js';
import { UNCHECKED } from '../../kernel/core/verdict.js';
import { type ActiveHalt, type HaltNotice, haltSentence, noticeOf } from '../halts/halt.js';
import type { ApprovalNotice } from './approval-gate.js';
import { type ComparedStep, withComparison } from './compared-step.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { EvaluationOptions, VerdictOutcome } from './evaluation-options.js';
import type { HeldStep } from './held-step.js';
import type { LiftedVerdict, StepModification } from './lifted-step.js';
import type { RandomId } from './random-id.js';

/** A step to evaluate. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
  readonly options: EvaluationOptions | null;
  /** What the agent works on; absent and null for nothing. */
  readonly target?: TargetName | null;
  /** Set when the data of the step are in another thread; `step` has its type and name only. */
  readonly held?: HeldStep;
}

/** A verdict with the revision of its controls. */
export interface RevisedVerdict extends Verdict {
  readonly revision: number;
  /**
   * Set when the controls are those of the last known good file: whole seconds, rounded up, since they were certainly
   * the latest.
   */
  readonly staleness_seconds: number | null;
  /** How the step differs from its registered schemas; null if it does not, or if they are not compared. */
  readonly schema_mismatch: SchemaMismatch | null;
  /** `allow` if and only if the step is safe. */
  readonly outcome: VerdictOutcome;
  /** Unique; a UUID, or what makes the text of one. */
  readonly decision_id: string | RandomId;
  /** The halt that denied the step, whatever its controls say: they were not evaluated. Absent without one. */
  readonly halt?: HaltNotice;
  /** The approval that the step waits for, or that let it pass. Absent without one. */
  readonly approval?: ApprovalNotice;
  /** The step that may run instead. Present if and only if the outcome is `modify`. */
  readonly modification?: StepModification;
}

/** Summary of a verdict in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error' | 'ask' | 'modify';

/** The verdict about a step that a halt denies, whatever its controls say. */
export function haltedBy(halt: ActiveHalt, revision: number, decisionId: string | RandomId): RevisedVerdict {
  const verdict = { ...DENIED, reason: haltSentence(halt) };
  return { ...revised(verdict, revision, null, 'deny', decisionId, null), halt: noticeOf(halt) };
}

/** What such a verdict has besides its reason. */
const DENIED = {
  is_safe: false,
  confidence: 1,
  ...UNCHECKED,
} satisfies Omit<Verdict, 'reason'>;

/** The outcome of a verdict for a caller that accepts these outcomes besides allow and deny. */
export function outcomeOf(verdict: Verdict, accepts: EvaluationOptions['accepts']): VerdictOutcome {
  if (verdict.is_safe) return 'allow';
  if (accepts !== undefined && !accepts.includes('steer')) return 'deny';
  if (verdict.matches.some(isDeny) || verdict.errors.some(isDeny)) return 'deny';
  // Without a cause, an agent without controls is denied.
  return verdict.matches.length > 0 ? 'steer' : 'deny';
}

const isDeny = ({ action }: ControlResult): boolean => action === 'deny';

/** The verdict of the controls, together with what came of the comparison with the schemas. */
export function concluded(
  verdict: Verdict,
  compared: ComparedStep | null,
  { step, options }: EvaluateRequest,
  revision: number,
  staleness: number | null,
  decisionId: string | RandomId,
): RevisedVerdict {
  const denies = compared?.denies === true;
  const outcome = denies ? 'deny' : outcomeOf(verdict, options?.accepts);
  const made = denies ? withComparison(verdict, compared, step) : verdict;
  return revised(
    made,
    revision,
    staleness,
    outcome,
    decisionId,
    compared === null ? null : compared.mismatch,
  );
}

export function withLifts(
  made: RevisedVerdict,
  lifted: LiftedVerdict | { readonly outcome: null },
): RevisedVerdict {
  if (lifted.outcome === null) return made;
  const { outcome, approval, modification } = lifted;
  return {
    ...made,
    outcome,
    ...(approval === null ? {} : { approval }),
    ...(modification === null ? {} : { modification }),
  };
}

/**
 * A verdict as its caller knows such verdicts: to deployed clients a match of a deny control means that the step must not
 * proceed, whatever else is said. An approved step has such matches, which are recorded.
 */
export function shownTo({ options }: EvaluateRequest, verdict: RevisedVerdict): RevisedVerdict {
  if (!verdict.is_safe || verdict.approval === undefined || options?.accepts?.includes('ask') === true)
    return verdict;
  return { ...verdict, matches: verdict.matches.filter((match) => !isDeny(match)) };
}

/** `differs`: whether the step is denied because it differs from its registered schemas. */
export function labelOf(verdict: RevisedVerdict, differs: boolean): VerdictLabel {
  if (differs) return 'deny';
  const { outcome, approval } = verdict;
  if (outcome === 'ask' || outcome === 'modify') return outcome;
  return approval === undefined ? verdictLabel(verdict) : outcome === 'allow' ? 'allow' : 'deny';
}

/** Member by member, for speed: this runs for every verdict. */
function revised(
  verdict: Verdict,
  revision: number,
  staleness_seconds: number | null,
  outcome: VerdictOutcome,
  decision_id: string | RandomId,
  schema_mismatch: SchemaMismatch | null,
): RevisedVerdict {
  const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
  const { selected_controls, evaluated_controls, skipped_controls } = verdict;
  const made: RevisedVerdict = {
    is_safe,
    confidence,
    reason,
    matches,
    errors,
    non_matches,
    selected_controls,
    evaluated_controls,
    skipped_controls,
    revision,
    staleness_seconds,
    schema_mismatch,
    outcome,
    decision_id,
  };
  return verdict.limits === undefined ? made : { ...made, limits: verdict.limits };
}

/** A full verdict reduced to the detail `verdict`. */
export function withoutDetail(verdict: RevisedVerdict): RevisedVerdict {
  const bare = (one: ControlResult): ControlResult => ({
    ...one,
    result: { ...one.result, metadata: keptMetadata(one) },
  });
  return {
    ...verdict,
    matches: verdict.matches.map(bare),
    errors: verdict.errors.map(bare),
    non_matches: [],
  };
}

/** The strongest result: a deny takes precedence over everything, an error over every safe result. */
export function verdictLabel(verdict: Verdict): VerdictLabel {
  const { matches } = verdict;
  if (matches.some((match) => match.action === 'deny')) return 'deny';
  if (verdict.errors.some((error) => error.action === 'deny') && !verdict.is_safe) return 'error';
  if (matches.some((match) => match.action === 'steer')) return 'steer';
  if (verdict.errors.length > 0) return 'error';
  if (matches.length > 0) return 'observe';
  return verdict.is_safe ? 'allow' : 'deny';
}
