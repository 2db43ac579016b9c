import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { quoted } from '../../contract/errors/quoted.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { type ControlDefinition, leavesOf } from '../controls/definition/definition.js';
import type { RegisteredStep } from './steps-catalogue.js';

/** Most schemas that are looked at for one control, over all its leaves. */
const MAX_LOOKED_AT = 20_000;

/**
 * Leaves of a deny or steer control that read a member of the input or output which the schema of a registered step
 * does not guarantee: a step without it passes. One warning for each leaf, about the first such step. `namesSteps`:
 * whether the scope names the steps; otherwise only schemas that have the member are looked at, because a control of
 * many steps does not mean all of them.
 */
export function* guaranteeNotes(
  { condition, action }: ControlDefinition,
  steps: readonly RegisteredStep[],
  namesSteps: boolean,
): Generator<Warning, void> {
  if (action.decision === 'observe') return;
  let left = MAX_LOOKED_AT;
  for (const { leaf, path } of leavesOf(condition, 'data.condition')) {
    const { path: selected = '*', required } = leaf.selector;
    const [root = '', ...names] = selected.split('.');
    if (required === true || (root !== 'input' && root !== 'output') || names.length === 0) continue;
    for (const step of steps) {
      left -= names.length;
      if (left < 0) return;
      const schema = root === 'input' ? step.input_schema : step.output_schema;
      if (schema === null) continue;
      const missing = notGuaranteed(schema, names, namesSteps);
      if (missing === null) continue;
      const message =
        `the registered schema of step ${quoted(step.name)} does not guarantee ${quoted(`${root}.${missing}`)}, and a ` +
        'step without it passes this check; write "required": true beside the path to make that an error of the check';
      yield { code: 'path_not_guaranteed', field: `${path}.selector`, message };
      break;
    }
  }
}

/** Keywords by which a schema may demand members elsewhere. */
const ELSEWHERE = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
];

/** The part of a path up to the first member that a schema does not demand; null if it demands all, or may do so. */
function notGuaranteed(schema: JsonObject, names: readonly string[], namesSteps: boolean): string | null {
  let at: JsonValue | undefined = schema;
  for (const [index, name] of names.entries()) {
    // A member without a schema of its own may be anything, also something without members.
    const here: JsonObject = isObject(at) ? at : {};
    if (ELSEWHERE.some((keyword) => Object.hasOwn(here, keyword))) return null;
    const properties = isObject(here.properties) ? here.properties : {};
    const isKnown = Object.hasOwn(properties, name);
    if (index === 0 && !isKnown && !namesSteps) return null;
    const { required } = here;
    if (!Array.isArray(required) || !required.includes(name)) return names.slice(0, index + 1).join('.');
    at = isKnown ? properties[name] : undefined;
  }
  return null;
}
