import { compilePattern } from '../evaluators/linear-pattern.js';
import type { ScopeView } from './definition-view.js';
import { describeThrown } from './failure.js';
import type { Stage, Step } from './types.js';

/** Whether a control looks at a step; `unknown` when its step name pattern cannot tell. */
export type ScopeAnswer = boolean | 'unknown';

/** A compiled scope. The stage is asked once, when a program is compiled; the step at each evaluation. */
export interface Scope {
  includesStage(stage: Stage): boolean;
  selects(step: Step): ScopeAnswer;
}

/** The scope of a control whose own scope cannot be read. */
export const EVERY_STEP: Scope = { includesStage: () => true, selects: () => true };

/** Compiles a scope; `onBroken` is told when its pattern is not valid, or not affordable for a name. */
export function compileScope(view: ScopeView, onBroken: (problem: string) => void): Scope {
  const { stages, stepTypes } = view;
  const types = stepTypes === null ? null : new Set(stepTypes);
  const selectsName = compileNames(view, onBroken);
  return {
    includesStage: (stage) => stages?.includes(stage) ?? true,
    selects: (step) => (types === null || types.has(step.type)) && selectsName(step.name),
  };
}

/** Exact names and the pattern are alternatives; the pattern is asked only when no name fits. */
function compileNames(view: ScopeView, onBroken: (problem: string) => void): (name: string) => ScopeAnswer {
  const { stepNames, stepNameRegex } = view;
  if (stepNames === null && stepNameRegex === null) return () => true;
  const names = new Set(stepNames);
  if (stepNameRegex === null) return (name) => names.has(name);
  const searchIn = compileSearch(stepNameRegex, onBroken);
  return (name) => names.has(name) || searchIn(name);
}

function compileSearch(pattern: string, onBroken: (problem: string) => void): (name: string) => ScopeAnswer {
  try {
    const compiled = compilePattern(pattern);
    return (name) => {
      try {
        return compiled.test(name);
      } catch (error) {
        onBroken(`step_name_regex cannot be searched: ${describeThrown(error)}`);
        return 'unknown';
      }
    };
  } catch (error) {
    onBroken(`invalid step_name_regex: ${describeThrown(error)}`);
    return () => 'unknown';
  }
}
