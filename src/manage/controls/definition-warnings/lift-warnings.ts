import { quoted } from '../../../contract/errors/quoted.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import { type ControlDefinition, leavesOf } from '../definition/definition.js';
import { selectorWarnings } from './selector-warnings.js';

/** Warnings about `action.approval` and `action.modify`. */
export function* liftWarnings(
  { action, scope, condition }: ControlDefinition,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  const { approval, modify = [] } = action;
  if (approval !== undefined && approval.bind !== undefined && approval.bind !== 'step') {
    for (const [index, path] of approval.bind.entries())
      yield* selectorWarnings(path, `data.action.approval.bind[${index}]`, scope);
  }
  const selected = [...leavesOf(condition, '')]
    .filter(({ leaf, positive }) => positive && registry.get(leaf.evaluator.name)?.locates === true)
    .map(({ leaf }) => leaf.selector.path ?? '*');
  for (const [index, change] of modify.entries()) {
    const { path } = change;
    const field = `data.action.modify[${index}].path`;
    yield* selectorWarnings(path, field, scope);
    if (
      'remove' in change ||
      change.replace !== 'matches' ||
      selected.some((other) => isOnOnePath(path, other))
    )
      continue;
    const message = `no check that can say where it matches looks at ${quoted(path)}, so nothing is replaced there`;
    yield { code: 'no_effect', field, message };
  }
}

/** Whether one of two paths is below the other one, or is the same. */
function isOnOnePath(left: string, right: string): boolean {
  return right === '*' || `${left}.`.startsWith(`${right}.`) || `${right}.`.startsWith(`${left}.`);
}
