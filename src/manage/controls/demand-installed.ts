import type { ErrorItem } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { isDraft, leavesOf, type StoredControl } from './definition/definition.js';

/**
 * Throws a VALIDATION_ERROR for a control with an evaluator whose package is not installed. For one that is stored again and
 * was not read from the request, where its schema refuses it.
 */
export function demandInstalled(control: StoredControl, registry: EvaluatorRegistry): void {
  if (isDraft(control)) return;
  const items = [...leavesOf(control.condition, 'data.condition')].flatMap(({ leaf, path }): ErrorItem[] => {
    const { name } = leaf.evaluator;
    const { isMissing, unavailable: message = '' } = registry.get(name) ?? {};
    if (isMissing !== true) return [];
    const field = `${path}.evaluator.name`;
    return [{ resource: 'Control', field, code: 'value_error', message, value: name }];
  });
  if (items.length > 0) throw invalidRequest(items);
}
