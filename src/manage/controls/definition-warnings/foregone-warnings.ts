import type { Warning } from '../../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import { type ControlDefinition, leavesOf, type Scope } from '../definition/definition.js';
import { type Foregone, foregoneResult } from './foregone-result.js';

/**
 * Warnings about a control that no step can match, or that every step does. A control that matches every step of some
 * types or names blocks them on purpose, so it has none.
 */
export function* foregoneWarnings(
  definition: ControlDefinition,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  const result: Foregone = foregoneResult(definition, registry);
  const field = 'data.condition';
  if (result === false) {
    const part = decidingPart(definition, registry);
    const message = `no step can match${part === null ? '' : `: ${part} never does`}, so the control has no effect`;
    yield { code: 'never_matches', field, message };
  }
  if (result === true && !restrictsSteps(definition.scope ?? {})) {
    const { decision } = definition.action;
    const effect = decision === 'deny' ? 'denies' : decision === 'steer' ? 'steers' : 'records';
    const message =
      `every step of every agent that has this control matches, so it ${effect} all of them; ` +
      'to do so on purpose, name step types or step names in the scope';
    yield { code: 'always_matches', field, message };
  }
}

/** The first leaf without which no step can match; null for a single one, or if none alone decides. */
function decidingPart(definition: ControlDefinition, registry: EvaluatorRegistry): string | null {
  const { condition, scope } = definition;
  if ('selector' in condition) return null;
  for (const { leaf, path } of leavesOf(condition, 'data.condition')) {
    const alone = { condition: leaf, ...(scope === undefined ? {} : { scope }) };
    if (foregoneResult(alone, registry) === false) return path;
  }
  return null;
}

function restrictsSteps({ step_types = [], step_names = [], step_name_regex = '' }: Scope): boolean {
  return step_types.length > 0 || step_names.length > 0 || step_name_regex !== '';
}
