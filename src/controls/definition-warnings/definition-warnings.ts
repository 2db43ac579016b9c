import type { Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../core/evaluator.js';
import { isDraft, leavesOf, type StoredControl } from '../definition.js';
import { evaluatorWarnings } from './evaluator-warnings.js';
import { scopeWarnings } from './scope-warnings.js';
import { selectorWarnings } from './selector-warnings.js';
import { templateWarnings } from './template-warnings.js';

/**
 * What a caller should know about a control that is valid, as far as the definition and the evaluators of the service
 * tell it. What agents have registered is for `RegistrationNotes`. The time is linear in the definition, but for its
 * patterns, which are compiled once more.
 */
export function* definitionWarnings(
  control: StoredControl,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  yield* templateWarnings(control);
  if (isDraft(control)) return;
  yield* scopeWarnings(control.scope ?? {});
  for (const placed of leavesOf(control.condition, 'data.condition')) {
    yield* selectorWarnings(placed.leaf.selector.path ?? '*', `${placed.path}.selector.path`, control.scope);
    yield* evaluatorWarnings(placed, control.execution, registry);
  }
}
