import { compilePattern } from '../../../packages/linear-text/src/index.js';
import type { ScopeView } from './definition-view.js';
import { describeThrown } from './failure.js';
import type { SizedPart, Stage } from './types.js';

/** Failure of a step name pattern to decide on a name. */
export interface NameFailure {
  /** The cause, for the operator; null when it was reported on compilation. */
  readonly problem: string | null;
}

/** A compiled scope. Null members do not restrict. */
export interface CompiledScope extends SizedPart {
  readonly stages: ReadonlySet<Stage> | null;
  readonly stepTypes: ReadonlySet<string> | null;
  /** Exact names and the pattern are alternatives; the pattern is evaluated only when no name matches. */
  readonly stepNames: ReadonlySet<string> | null;
  readonly searchName: ((name: string) => boolean | NameFailure) | null;
  /** What is wrong with the pattern, for the operator. */
  readonly problem: string | null;
}

/** The scope of a control whose scope is unreadable. */
export const EVERY_STEP: CompiledScope = {
  stages: null,
  stepTypes: null,
  stepNames: null,
  searchName: null,
  problem: null,
  sizeBytes: 0,
};

/** Bytes of one set entry; of a compiled pattern besides its text; of each character of the pattern. */
const ENTRY_BYTES = 60;
const PATTERN_BYTES = 4_000;
const PATTERN_CHARACTER_BYTES = 200;

/** Compiles a scope. Never throws: an invalid pattern decides no name. */
export function compileScope(view: ScopeView): CompiledScope {
  const { stages, stepTypes, stepNames, stepNameRegex } = view;
  const search = stepNameRegex === null ? null : compileSearch(stepNameRegex);
  return {
    stages: stages === null ? null : new Set(stages),
    stepTypes: stepTypes === null ? null : new Set(stepTypes),
    stepNames: stepNames === null ? null : new Set(stepNames),
    searchName: search?.searchName ?? null,
    problem: search?.problem ?? null,
    sizeBytes:
      textBytes(stepTypes) +
      textBytes(stepNames) +
      (stepNameRegex === null ? 0 : PATTERN_BYTES + PATTERN_CHARACTER_BYTES * stepNameRegex.length),
  };
}

/** Whether a scope includes a stage and a type. Names are not tested. */
export function includesStep(scope: CompiledScope, stage: Stage, stepType: string): boolean {
  const { stages, stepTypes } = scope;
  return (stages === null || stages.has(stage)) && (stepTypes === null || stepTypes.has(stepType));
}

/** Whether a scope restricts step names. */
export function restrictsNames(scope: CompiledScope): boolean {
  return scope.stepNames !== null || scope.searchName !== null;
}

function compileSearch(pattern: string): Required<Pick<CompiledScope, 'searchName' | 'problem'>> {
  try {
    const compiled = compilePattern(pattern);
    return {
      problem: null,
      searchName(name) {
        try {
          return compiled.test(name);
        } catch (error) {
          return { problem: `step_name_regex cannot be searched: ${describeThrown(error)}` };
        }
      },
    };
  } catch (error) {
    const unknown: NameFailure = { problem: null };
    return { problem: `invalid step_name_regex: ${describeThrown(error)}`, searchName: () => unknown };
  }
}

function textBytes(texts: readonly string[] | null): number {
  return (texts ?? []).reduce((sum, text) => sum + ENTRY_BYTES + 2 * text.length, 0);
}
