import type { AgentControl } from '@gen/enforcement/v1/agent_service_pb.js';
import type { Scope } from '@gen/enforcement/v1/control_pb.js';

/** A registered step. */
export interface RegisteredStep {
  readonly type: string;
  readonly name: string;
}

type CoveringControl = Pick<AgentControl, 'control'>;

/** The registered steps that no control in effect checks, at any stage. */
export function uncoveredSteps(
  steps: readonly RegisteredStep[],
  controls: readonly CoveringControl[],
): readonly RegisteredStep[] {
  const scopes = controls
    .filter(({ control }) => control !== undefined && control.enabled !== false)
    .map(({ control }) => control?.scope);
  return steps.filter((step) => !scopes.some((scope) => covers(scope, step)));
}

/**
 * Whether a scope selects a step. A name is one of the list, or found by the pattern. Patterns that only the server can
 * read count as matching: a step is called uncovered only if it is for certain.
 */
function covers(scope: Scope | undefined, { type, name }: RegisteredStep): boolean {
  if (scope === undefined) return true;
  const { stepTypes, stepNames, stepNameRegex } = scope;
  if (stepTypes.length > 0 && !stepTypes.includes(type)) return false;
  const hasPattern = stepNameRegex !== undefined && stepNameRegex !== '';
  if (stepNames.length === 0 && !hasPattern) return true;
  return stepNames.includes(name) || (hasPattern && mayFind(stepNameRegex, name));
}

function mayFind(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    return true;
  }
}
