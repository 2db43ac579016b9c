import type { EvaluatorRegistry } from '../evaluators/types.js';
import { readAgentScopedName } from './agent-scoped-name.js';
import { leavesOf, type StoredControl } from './definition.js';

/** Something a caller should know about an accepted definition. */
export type Warning = {
  /** Stable code. */
  code: 'unknown_evaluator';
  /** Path of the member that caused it, beginning with `data`. */
  field: string;
  message: string;
};

/** What a caller should know about a control that is valid: one warning for each evaluator the service lacks. */
export function definitionWarnings({ condition }: StoredControl, registry: EvaluatorRegistry): Warning[] {
  const warnings: Warning[] = [];
  for (const { leaf, path } of leavesOf(condition, 'data.condition')) {
    const { name } = leaf.evaluator;
    // An evaluator of an agent is known, or the definition would not have been accepted.
    if (registry.has(name) || readAgentScopedName(name) !== undefined) continue;
    warnings.push({
      code: 'unknown_evaluator',
      field: `${path}.evaluator.name`,
      message: `The service has no evaluator "${name}"; until it has, this check is an error, which fails closed.`,
    });
  }
  return warnings;
}
