import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { type DataPreview, previewOf } from '../../contract/secrets/data-preview.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { applicabilityOf } from '../../kernel/core/applicability.js';
import { leavesOfControls } from '../../kernel/core/linked-control.js';
import type { PreparedNode } from '../../kernel/core/prepared-control.js';
import { nodesOf, type PreparedControl } from '../../kernel/core/prepared-control.js';
import { compileSelector } from '../../kernel/core/selector.js';
import type { Stopwatch } from '../../kernel/core/stopwatch.js';
import type { AgentFacts, ControlResult, Decision, Stage, Step, Verdict } from '../../kernel/core/types.js';
import { type ConditionExplanation, explainCondition } from './condition-explanation.js';
import { type Reason, sentenceOf, tellProblem } from './explain-sentences.js';
import { createExpressionValues, findingsOf } from './leaf-details.js';

/** A control that was evaluated, or would be. */
export interface TriedControl {
  readonly id: number;
  readonly name: string;
  /** As stored; null when it is invalid JSON. */
  readonly definition: JsonValue;
  /** A template with missing values. */
  readonly isDraft: boolean;
  /** With the leaves that were measured. */
  readonly prepared: PreparedControl;
  readonly warnings: readonly Warning[];
}

/** Explanation of one control. Members are those of the message. */
export type ControlExplanation = {
  control_id: number;
  control_name: string;
  decision: Decision | null;
  applies: boolean;
  reason: Reason;
  message: string;
  condition: ConditionExplanation | null;
  warnings: readonly Warning[];
};

/** The parts of an evaluation that explanations need. */
export interface ExplainedEvaluation {
  readonly step: Step;
  readonly stage: Stage;
  readonly verdict: Verdict;
  readonly stopwatch: Stopwatch;
  readonly agent: AgentFacts | null;
  /** The time of the evaluation, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Actual causes of failures, by control id; null when the caller must not see them. */
  readonly problems: ReadonlyMap<number, string> | null;
}

/** Most nodes of all conditions of one reply: some 2 MB. */
export const MAX_EXPLAINED_NODES = 5_000;

/** Explains one control after the other. */
export function createExplainer(evaluation: ExplainedEvaluation) {
  const { step, stage, verdict, stopwatch, problems } = evaluation;
  const results = resultsById(verdict);
  const preview = createPreviews(step);
  const valuesOf = createExpressionValues({ ...evaluation, mayKnowAll: problems !== null });
  let nodes = 0;

  const conditionOf = (control: TriedControl, condition: PreparedNode): ConditionExplanation | null => {
    nodes += nodesOf(condition);
    if (nodes > MAX_EXPLAINED_NODES) return null;
    const problem = problems?.get(control.id);
    return explainCondition(condition, traceOf(results.get(control.id)), {
      durationOf: stopwatch.durationOf,
      preview,
      valuesOf,
      findingsOf: (leaf) => findingsOf(stopwatch.resultOf(leaf)),
      problem: problem === undefined ? null : tellProblem(problem),
    });
  };

  return (control: TriedControl): ControlExplanation => {
    const { id, name, definition, prepared, warnings } = control;
    const reading = applicabilityOf(definition, prepared, step, stage);
    const reason = control.isDraft && !prepared.active ? 'template_unrendered' : reading.reason;
    const applies = reason === 'applies';
    const problem = applies ? (problems?.get(id) ?? null) : reading.problem;
    const message = sentenceOf({
      reason,
      scope: prepared.scope,
      step,
      stage,
      result: results.get(id) ?? null,
      remembers: leavesOfControls({ prepared }).some(({ part }) => part.compiled.memory !== undefined),
      problem: problem === null || problems === null ? null : tellProblem(problem),
    });
    const condition =
      applies && prepared.condition !== null ? conditionOf(control, prepared.condition) : null;
    return {
      control_id: id,
      control_name: name,
      decision: reading.decision,
      applies,
      reason,
      message,
      condition,
      warnings,
    };
  };
}

function resultsById({ matches, errors, non_matches }: Verdict): Map<number, ControlResult> {
  return new Map([...matches, ...errors, ...non_matches].map((result) => [result.control_id, result]));
}

function traceOf(result: ControlResult | undefined): JsonObject | null {
  const trace = result?.result.metadata?.condition_trace;
  return isObject(trace) ? trace : null;
}

/** Previews by selector path, each created once. */
function createPreviews(step: Step): (path: string) => DataPreview {
  const previews = new Map<string, DataPreview>();
  return (path) => {
    const known = previews.get(path);
    if (known !== undefined) return known;
    const made = previewOf(compileSelector(path)(step), path);
    previews.set(path, made);
    return made;
  };
}
