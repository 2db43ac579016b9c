import type { Outcome } from './condition.js';
import { SCOPE_FAILURE_TEXT } from './failure.js';
import { shorten } from './text.js';
import type { ControlResult, Decision, Detail, EvaluatorResult, SteeringContext, Verdict } from './types.js';

/** Most controls that a reason names. */
const NAMED_CAUSES = 5;
/** How much of a control's message a reason quotes, in characters. */
const QUOTED_MESSAGE_LENGTH = 200;

/** What a verdict says about a control beside its outcome. */
export interface ControlLabel {
  readonly id: number;
  readonly name: string;
  readonly decision: Decision;
  readonly steeringContext: SteeringContext | null;
}

/** Collects the outcomes of one evaluation, in the order in which the lists shall have them. */
export interface Tally {
  add(control: ControlLabel, outcome: Outcome): void;
  /** A control of which it is unknown whether it looks at the step. */
  addScopeFailure(control: ControlLabel): void;
  verdict(): Verdict;
}

const SCOPE_FAILURE: EvaluatorResult = {
  matched: false,
  confidence: 0,
  message: SCOPE_FAILURE_TEXT,
  metadata: null,
  error: SCOPE_FAILURE_TEXT,
};

/** An empty tally. Execution ids are drawn only for what is returned. */
export function createTally(detail: Detail, newExecutionId: () => string): Tally {
  const full = detail === 'full';
  const matches: ControlResult[] = [];
  const errors: ControlResult[] = [];
  const scopeFailures: ControlResult[] = [];
  const nonMatches: ControlResult[] = [];
  let evaluated = 0;

  const item = (control: ControlLabel, result: EvaluatorResult): ControlResult => ({
    control_execution_id: newExecutionId(),
    control_id: control.id,
    control_name: control.name,
    action: control.decision,
    result,
    steering_context: control.steeringContext,
  });

  return {
    add(control, outcome) {
      evaluated += 1;
      if (outcome.error !== null) errors.push(item(control, resultOf(outcome, full)));
      else if (outcome.matched) matches.push(item(control, resultOf(outcome, full)));
      else if (full) nonMatches.push(item(control, resultOf(outcome, full)));
    },
    addScopeFailure(control) {
      scopeFailures.push(item(control, SCOPE_FAILURE));
    },
    verdict() {
      const allErrors = scopeFailures.length === 0 ? errors : [...scopeFailures, ...errors];
      const causes = unsafeBecause(matches, allErrors);
      return {
        is_safe: causes.length === 0,
        confidence: confidenceOf(matches, allErrors, evaluated, errors.length),
        reason: causes.length === 0 ? null : reasonOf(causes),
        matches,
        errors: allErrors,
        non_matches: nonMatches,
      };
    },
  };
}

function resultOf(outcome: Outcome, full: boolean): EvaluatorResult {
  const { matched, confidence, message, error, trace } = outcome;
  if (!full || trace === undefined) return { matched, confidence, message, metadata: null, error };
  return { matched, confidence, message, metadata: { ...outcome.metadata, condition_trace: trace }, error };
}

const isDeny = (result: ControlResult): boolean => result.action === 'deny';
const isSteer = (result: ControlResult): boolean => result.action === 'steer';

/** What makes a step unsafe: matches of deny, deny controls that could not be evaluated, matches of steer. */
function unsafeBecause(matches: readonly ControlResult[], errors: readonly ControlResult[]): ControlResult[] {
  if (matches.length === 0 && errors.length === 0) return [];
  return [...matches.filter(isDeny), ...errors.filter(isDeny), ...matches.filter(isSteer)];
}

/**
 * How far the verdict rests on controls that could be evaluated. Controls whose scope failed were not evaluated;
 * a deny control among them leaves no confidence, like any deny control that failed.
 */
function confidenceOf(
  matches: readonly ControlResult[],
  errors: readonly ControlResult[],
  evaluated: number,
  failed: number,
): number {
  if (errors.some(isDeny)) return 0;
  if (matches.some(isDeny)) return 1;
  if (evaluated === 0) return errors.length === 0 ? 1 : 0;
  return (evaluated - failed) / evaluated;
}

function reasonOf(causes: readonly ControlResult[]): string {
  const named = causes.slice(0, NAMED_CAUSES).map(({ control_name, action, result }) => {
    const happened = result.error === null ? 'matched' : 'could not be evaluated';
    const message = result.message ? `: ${shorten(result.message, QUOTED_MESSAGE_LENGTH)}` : '';
    return `${action} control "${control_name}" ${happened}${message}`;
  });
  const rest = causes.length - named.length;
  return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}
