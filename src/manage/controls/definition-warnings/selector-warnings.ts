import { quoted } from '../../../contract/errors/quoted.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { Scope } from '../definition/definition.js';
import { textWarnings } from './text-warnings.js';

/** Members of a step that are texts without members, and the whole step, which has no path. */
const WITHOUT_MEMBERS = new Set(['*', 'name', 'type']);

/** Whether a control is for the stage pre only. */
export function isBeforeSteps(scope: Scope | undefined): boolean {
  const stages = scope?.stages ?? [];
  return stages.length > 0 && !stages.includes('post');
}

/** Warnings about the path of a selector. */
export function* selectorWarnings(
  path: string,
  field: string,
  scope: Scope | undefined,
): Generator<Warning, void> {
  yield* textWarnings(path, field);
  const [root = '', ...keys] = path.split('.');
  if (WITHOUT_MEMBERS.has(root) && keys.length > 0) {
    const advice = root === '*' ? `; leave "*." away to select a member of the step` : '';
    const message = `${quoted(path)} selects nothing: ${quoted(root)} has no members${advice}`;
    yield { code: 'never_matches', field, message };
  }
  if (keys.some((key) => key.trim() !== key)) {
    const message = `${quoted(path)} has blanks around a name, and names are compared exactly`;
    yield { code: 'surrounding_blanks', field, message };
  }
  if (keys.some((key) => /\[\d*\]$/.test(key))) {
    const message = `${quoted(path)} has no way into lists: a name with brackets is a name like any other`;
    yield { code: 'list_index', field, message };
  }
  if (root === 'output' && isBeforeSteps(scope)) {
    const message = 'the scope has the stage pre only, at which a step has no output yet';
    yield { code: 'output_before_step', field, message };
  }
}
