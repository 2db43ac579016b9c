import { shorten } from '../../packages/linear-text/src/index.js';
import { fullResult } from './condition.js';
import { SCOPE_FAILURE_TEXT } from './failure.js';
import type { Outcome } from './outcome.js';
import type { ControlResult, Decision, EvaluatorResult, SteeringContext, Verdict } from './types.js';

/** Most controls that a reason names. */
const NAMED_CAUSES = 5;
/** Longest quotation of a control's message in a reason, in characters. */
const QUOTED_MESSAGE_LENGTH = 200;

/** Properties of a control in a verdict besides its outcome. */
export interface ControlLabel {
  readonly id: number;
  readonly name: string;
  readonly decision: Decision;
  readonly steeringContext: SteeringContext | null;
}

const SCOPE_FAILURE: EvaluatorResult = {
  matched: false,
  confidence: 0,
  message: SCOPE_FAILURE_TEXT,
  metadata: null,
  error: SCOPE_FAILURE_TEXT,
};

/**
 * Collects the outcomes of one evaluation, in the order of the result lists. Execution ids are created only
 * for returned items.
 */
export class Tally {
  readonly #full: boolean;
  readonly #newExecutionId: () => string;
  readonly #matches: ControlResult[] = [];
  readonly #errors: ControlResult[] = [];
  readonly #nonMatches: ControlResult[] = [];
  #scopeFailures = 0;
  #evaluated = 0;

  constructor(full: boolean, newExecutionId: () => string) {
    this.#full = full;
    this.#newExecutionId = newExecutionId;
  }

  /** Adds a control whose applicability to the step is unknown. Call before `add`: these come first. */
  addScopeFailure(control: ControlLabel): void {
    this.#scopeFailures += 1;
    this.#errors.push(this.#item(control, SCOPE_FAILURE));
  }

  add(control: ControlLabel, outcome: Outcome): void {
    this.#evaluated += 1;
    if (outcome.error !== null) this.#errors.push(this.#item(control, resultOf(outcome, this.#full)));
    else if (outcome.matched) this.#matches.push(this.#item(control, resultOf(outcome, this.#full)));
    else if (this.#full) this.#nonMatches.push(this.#item(control, resultOf(outcome, true)));
  }

  verdict(): Verdict {
    const causes = unsafeBecause(this.#matches, this.#errors);
    const failed = this.#errors.length - this.#scopeFailures;
    return {
      is_safe: causes.length === 0,
      confidence: confidenceOf(this.#matches, this.#errors, this.#evaluated, failed),
      reason: causes.length === 0 ? null : reasonOf(causes),
      matches: this.#matches,
      errors: this.#errors,
      non_matches: this.#nonMatches,
    };
  }

  #item(control: ControlLabel, result: EvaluatorResult): ControlResult {
    return {
      control_execution_id: this.#newExecutionId(),
      control_id: control.id,
      control_name: control.name,
      action: control.decision,
      result,
      steering_context: control.steeringContext,
    };
  }
}

function resultOf(outcome: Outcome, full: boolean): EvaluatorResult {
  if (full) return outcome.result ?? fullResult(outcome);
  const { matched, confidence, message, error } = outcome;
  return { matched, confidence, message, metadata: null, error };
}

const NONE: readonly ControlResult[] = [];
const isDeny = (result: ControlResult): boolean => result.action === 'deny';
const isSteer = (result: ControlResult): boolean => result.action === 'steer';

/** The causes of an unsafe step: matches of deny, failed deny controls, matches of steer. */
function unsafeBecause(
  matches: readonly ControlResult[],
  errors: readonly ControlResult[],
): readonly ControlResult[] {
  if (matches.length === 0 && errors.length === 0) return NONE;
  return [...matches.filter(isDeny), ...errors.filter(isDeny), ...matches.filter(isSteer)];
}

/**
 * Degree to which the verdict rests on evaluated controls. Controls whose scope failed were not evaluated; a
 * deny control among them leaves no confidence, like any failed deny control.
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
