import { shorten } from '../../../packages/linear-text/src/index.js';
import { safeText } from '../../contract/secrets/data-preview.js';
import type { Applicability } from '../../kernel/core/applicability.js';
import type { CompiledScope } from '../../kernel/core/scope.js';
import type { ControlResult, Stage, Step } from '../../kernel/core/types.js';

/** Why a control does or does not apply to a step; a draft of a template is ignored in evaluations. */
export type Reason = Applicability | 'template_unrendered';

/** Input of a sentence. */
export interface SentenceFacts {
  readonly reason: Reason;
  readonly scope: CompiledScope;
  readonly step: Step;
  readonly stage: Stage;
  /** The control's result in the verdict; null when it is not part of it. */
  readonly result: ControlResult | null;
  /** Whether it depends on earlier steps. */
  readonly remembers: boolean;
  /** The actual cause, masked; null when there is none, or the caller must not see it. */
  readonly problem: string | null;
}

/** Most items of a scope named in a sentence, and the length of each, in characters. */
const NAMED_ITEMS = 5;
const NAMED_LENGTH = 80;
/** Longest reported problem, in characters. */
const MAX_PROBLEM_LENGTH = 500;

/** A problem in the form shown to admins: it may quote data. */
export function tellProblem(problem: string): string {
  return safeText(problem, MAX_PROBLEM_LENGTH);
}

/** Describes why a control does or does not apply to a step. */
export function sentenceOf(facts: SentenceFacts): string {
  const { reason, scope, step, stage, result, remembers, problem } = facts;
  const cause = problem === null ? '' : `: ${problem}`;
  switch (reason) {
    case 'disabled':
      return 'The control is disabled.';
    case 'not_server_side':
      return 'Its execution is "sdk": clients evaluate it, the service does not.';
    case 'stage':
      return `Its scope has the stages ${named(scope.stages)}; this is stage ${quoted(stage)}.`;
    case 'step_type':
      return `Its scope has the step types ${named(scope.stepTypes)}; the step has type ${quoted(step.type)}.`;
    case 'step_name':
      return nameSentence(scope, step.name);
    case 'scope_failure':
      return `The step_name_regex of its scope cannot be used, so it counts as an error${cause}.`;
    case 'damaged':
      return `Its stored definition cannot be used, so it counts as an error${cause}.`;
    case 'template_unrendered':
      return 'Its template still lacks values, so there is no definition to evaluate.';
    case 'applies':
      return outcomeSentence(result, remembers, cause);
  }
}

function nameSentence({ stepNames, searchName }: CompiledScope, stepName: string): string {
  const wanted = [
    ...(stepNames === null ? [] : [`the step names ${named(stepNames)}`]),
    ...(searchName === null ? [] : ['a step_name_regex']),
  ];
  const verb = wanted.length > 1 ? 'neither fits' : 'that does not fit';
  return `Its scope has ${wanted.join(' and ')}; ${verb} the step name ${quoted(stepName)}.`;
}

function outcomeSentence(result: ControlResult | null, remembers: boolean, cause: string): string {
  if (result === null && remembers) {
    return 'It looks at the step, but was left out, because controls without memory do not let the step pass.';
  }
  if (result === null) {
    return 'It looks at the step, but its external evaluator was left out, because a deny control had matched.';
  }
  if (result.result.error !== null) {
    return `It looks at the step, but could not be evaluated${cause === '' ? `: ${result.result.error}` : cause}.`;
  }
  return `It looks at the step, and its condition ${result.result.matched ? 'matched' : 'did not match'}.`;
}

function named(items: ReadonlySet<string> | null): string {
  const all = [...(items ?? [])];
  const rest = all.length - NAMED_ITEMS;
  return all.slice(0, NAMED_ITEMS).map(quoted).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function quoted(text: string): string {
  return JSON.stringify(shorten(text, NAMED_LENGTH));
}
