import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import { fullResult } from './condition.js';
import { type ControlLabel, DecidedResult } from './decided-result.js';
import { SCOPE_FAILURE_TEXT } from './failure.js';
import type { Outcome } from './outcome.js';
import type { LeafLabel } from './trace.js';
import type { ControlResult, EvaluatorResult, Verdict } from './types.js';

/** What a verdict has of controls when none was asked. */
export const UNCHECKED = {
  matches: [],
  errors: [],
  non_matches: [],
  selected_controls: 0,
  evaluated_controls: 0,
  skipped_controls: 0,
} satisfies Partial<Verdict>;

/** Most controls that a reason names. */
const NAMED_CAUSES = 5;
/** Longest quotation of a control's message in a reason, in characters. */
const QUOTED_MESSAGE_LENGTH = 200;

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
  #selected: number;
  #scopeFailures = 0;
  #evaluated = 0;

  /** `selected` is the number of controls that apply to the step, or whose scope cannot be used. */
  constructor(full: boolean, selected: number, newExecutionId: () => string) {
    this.#full = full;
    this.#selected = selected;
    this.#newExecutionId = newExecutionId;
  }

  /** Adds a control whose applicability to the step is unknown. Call before `add`: these come first. */
  addScopeFailure(control: ControlLabel): void {
    this.#scopeFailures += 1;
    this.#errors.push(this.#item(control, SCOPE_FAILURE, null));
  }

  /** Counts one more control that concerns the step, although it does not apply to it by its scope. */
  select(): void {
    this.#selected += 1;
  }

  /** Adds controls whose conditions cannot match the step, which need not be evaluated. Only without detail. */
  addUnmatched(controls: number): void {
    this.#evaluated += controls;
  }

  /** Adds an evaluated control. `leaf` decided its condition. */
  add(control: ControlLabel, outcome: Outcome, leaf: LeafLabel | null): void {
    this.#evaluated += 1;
    if (outcome.error !== null)
      this.#errors.push(this.#item(control, resultOf(outcome, this.#full), leaf, outcome.kept));
    else if (outcome.matched)
      this.#matches.push(this.#item(control, resultOf(outcome, this.#full), leaf, outcome.kept));
    else if (this.#full)
      this.#nonMatches.push(this.#item(control, resultOf(outcome, true), leaf, outcome.kept));
  }

  /** Matches of `lifted` controls are no cause. */
  verdict(lifted: ReadonlySet<number> = NO_IDS): Verdict {
    const effective = withoutLifted(this.#matches, lifted);
    const causes = unsafeBecause(effective, this.#errors);
    const failed = this.#errors.length - this.#scopeFailures;
    return {
      is_safe: causes.length === 0,
      confidence: confidenceOf(effective, this.#errors, this.#evaluated, failed),
      reason: causes.length === 0 ? null : reasonOf(causes),
      matches: this.#matches,
      errors: this.#errors,
      non_matches: this.#nonMatches,
      selected_controls: this.#selected,
      evaluated_controls: this.#evaluated - failed,
      skipped_controls: this.#selected - this.#evaluated - this.#scopeFailures,
    };
  }

  #item(
    control: ControlLabel,
    result: EvaluatorResult,
    leaf: LeafLabel | null,
    kept: JsonObject | null = null,
  ): ControlResult {
    return new DecidedResult(this.#newExecutionId(), control, result, leaf, kept);
  }
}

function resultOf(outcome: Outcome, full: boolean): EvaluatorResult {
  if (full) return outcome.result ?? fullResult(outcome);
  const { matched, confidence, message, error, kept = null } = outcome;
  return { matched, confidence, message, metadata: kept, error };
}

const NO_IDS: ReadonlySet<number> = new Set();
const NONE: readonly ControlResult[] = [];

function withoutLifted(
  matches: readonly ControlResult[],
  lifted: ReadonlySet<number>,
): readonly ControlResult[] {
  return lifted.size === 0 ? matches : matches.filter(({ control_id: id }) => !lifted.has(id));
}

/**
 * A verdict whose matches of `lifted` controls are no cause any more, as if the step had been evaluated with them lifted:
 * for programs without memory.
 */
export function liftedVerdict(verdict: Verdict, lifted: ReadonlySet<number>): Verdict {
  const { errors, evaluated_controls: succeeded } = verdict;
  const effective = withoutLifted(verdict.matches, lifted);
  if (effective.length === verdict.matches.length) return verdict;
  const causes = unsafeBecause(effective, errors);
  const failed = errors.filter(({ result }) => result.error !== SCOPE_FAILURE_TEXT).length;
  return {
    ...verdict,
    is_safe: causes.length === 0,
    confidence: confidenceOf(effective, errors, succeeded + failed, failed),
    reason: causes.length === 0 ? null : reasonOf(causes),
  };
}
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
