import { listed, type Warning } from '../contract/warnings/warning.js';
import { isDraft, type StoredControl } from '../controls/definition.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { Step } from '../core/types.js';

/**
 * What keeps a control from saying more about a step than it does. `neverAsked`: whether it is a control of an agent
 * whose client has never asked for controls.
 */
export function explainWarnings(
  control: StoredControl,
  step: Pick<Step, 'name'>,
  registry: EvaluatorRegistry,
  neverAsked: boolean,
): Warning[] {
  return listed(warnings());

  function* warnings(): Generator<Warning, void> {
    if (!isDraft(control) && control.execution === 'sdk') {
      const doubt = neverAsked ? '; the client of this agent has never asked for its controls' : '';
      const message = `its execution is "sdk", so that clients evaluate it and the service does not${doubt}`;
      yield { code: 'client_side', field: 'data.execution', message };
    }
    for (const warning of definitionWarnings(control, registry)) {
      // Of all names, only those that end with a line break are not what they seem to a pattern.
      if (warning.code !== 'end_anchor' || /[\r\n]$/.test(step.name)) yield warning;
    }
  }
}
