import {
  type CelType,
  type ExpressionProblem,
  inspectExpression,
  type VariableTypes,
} from '../../../packages/cel/src/index.js';
import { type StepTypes, UNKNOWN_STEP, variableTypes } from '../../kernel/evaluators/cel/variables.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { Scope } from './definition/definition.js';

/** What registered schemas say about the data of the steps in a scope. */
export interface RegisteredStepTypes {
  /** Owner of the steps, for sentences such as `… by any agent`. */
  readonly owner: string;
  /** False when some registrations were not read: there may be other steps. */
  readonly isComplete: boolean;
  /** Types that every step in the scope has that keeps to its schemas. */
  readonly certain: StepTypes;
  /** Types by the members that schemas name: what they do not name is allowed by most schemas, but meant by few. */
  readonly likely: StepTypes;
  /** Whether all steps in the scope have an input schema. */
  readonly schemasKnown: boolean;
}

/** The types of the registered steps in a scope. Never rejects; null if they could not be read. */
export type RegisteredTypesOf = (scope: Scoped, of: Scope) => Promise<RegisteredStepTypes | null>;

/** A problem of an expression, and whether it is refused because of it. */
export interface JudgedProblem {
  readonly problem: ExpressionProblem;
  readonly isError: boolean;
  /** Whether it would be a problem whatever steps are registered. */
  readonly isOwn: boolean;
}

/** Problems that are told, but never refused: the result is the same for every step. */
const CONSTANT: ReadonlySet<ExpressionProblem['code']> = new Set(['always_true', 'always_false']);

export interface JudgedExpression {
  /** In order of the text. */
  readonly problems: readonly JudgedProblem[];
  readonly resultType: CelType | null;
  readonly reads: readonly string[];
  /** The types of its variables, for completion. */
  readonly variables: VariableTypes;
}

/**
 * Judges an expression for the steps in a scope. What the schemas contradict is an error, if all registrations were read;
 * what only the members that schemas name contradict is a warning.
 */
export function judgeExpression(
  text: string,
  selectorPath: string,
  types: RegisteredStepTypes | null,
): JudgedExpression {
  const of = (step: StepTypes): VariableTypes => variableTypes(step, selectorPath);
  const known = types === null ? null : { ...types, certain: of(types.certain), likely: of(types.likely) };
  return judgeVariables(text, of(UNKNOWN_STEP), known);
}

/** The same for variables of other types: those without schemas, and those that schemas give. */
export function judgeVariables(
  text: string,
  unknown: VariableTypes,
  types: {
    readonly certain: VariableTypes;
    readonly likely: VariableTypes;
    readonly isComplete: boolean;
  } | null,
): JudgedExpression {
  const own = inspectExpression(text, unknown);
  const problems: JudgedProblem[] = own.problems.map((problem) => ({
    problem,
    isError: !CONSTANT.has(problem.code),
    isOwn: true,
  }));
  const likely = types?.likely ?? unknown;
  const judged = { resultType: own.resultType, reads: own.reads, variables: likely };
  // Without a tree there is nothing to compare.
  if (types === null || own.resultType === null) return { problems, ...judged };
  const seen = new Set(own.problems.map(placeOf));
  const certain = inspectExpression(text, types.certain);
  for (const [inspected, isCertain] of [
    [certain, true],
    [inspectExpression(text, likely), false],
  ] as const) {
    for (const problem of inspected.problems) {
      if (seen.has(placeOf(problem))) continue;
      seen.add(placeOf(problem));
      // That an expression is always true by types that may be wrong says nothing.
      if (CONSTANT.has(problem.code) && !isCertain) continue;
      const isError = isCertain && types.isComplete && !CONSTANT.has(problem.code);
      problems.push({ problem, isError, isOwn: false });
    }
  }
  problems.sort((left, right) => left.problem.start - right.problem.start);
  return { problems, ...judged, resultType: certain.resultType ?? own.resultType };
}

function placeOf({ code, start, end }: ExpressionProblem): string {
  return `${code} ${start} ${end}`;
}
