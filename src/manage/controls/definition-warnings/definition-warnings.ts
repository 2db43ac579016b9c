import { ControlDefinitionSchema } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { endsAtTextOnly, neverMatches } from '../../../../packages/linear-text/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { unknownMembers } from '../../../contract/warnings/unknown-members.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import { isPlaceholder } from '../../templates/bindings.js';
import { missingParameters } from '../../templates/template-values.js';
import {
  type ControlDefinition,
  isDraft,
  leavesOf,
  type PlacedLeaf,
  type Scope,
  type StoredControl,
} from '../definition/definition.js';
import { evaluatorWarnings } from './evaluator-warnings.js';
import { foregoneWarnings } from './foregone-warnings.js';
import { liftWarnings } from './lift-warnings.js';
import { selectorWarnings } from './selector-warnings.js';
import { textWarnings } from './text-warnings.js';

/**
 * Warnings about a valid control that follow from the definition and the evaluators of the service.
 * Registrations of agents are checked by `RegistrationNotes`. The time is linear in the definition, except
 * for its patterns, which are compiled once more.
 */
export function* definitionWarnings(
  control: StoredControl,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  yield* templateWarnings(control);
  if (isDraft(control)) return;
  yield* scopeWarnings(control.scope ?? {});
  let isTold = false;
  for (const placed of leavesOf(control.condition, 'data.condition')) {
    for (const warning of leafWarnings(placed, control, registry)) {
      isTold ||= NEVER.has(warning.code);
      yield warning;
    }
  }
  // What is said about the only leaf need not be said about the condition.
  if (!isTold || !('selector' in control.condition)) yield* foregoneWarnings(control, registry);
  yield* liftWarnings(control, registry);
}

/** Codes of warnings about a leaf by which it never matches. */
const NEVER: ReadonlySet<string> = new Set(['never_matches', 'output_before_step', 'no_effect']);

function* leafWarnings(
  placed: PlacedLeaf,
  { scope, execution }: ControlDefinition,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  yield* selectorWarnings(placed.leaf.selector.path ?? '*', `${placed.path}.selector.path`, scope);
  yield* evaluatorWarnings(placed, { execution, scope }, registry);
}

/** Warnings about the template of a control, if it has one. */
export function* templateWarnings(control: StoredControl): Generator<Warning, void> {
  const { template, template_values: values = {} } = control;
  if (template === undefined) return;
  if (isDraft(control)) {
    for (const name of missingParameters({ template, template_values: values })) {
      const message = `Stored as disabled draft: template_values.${name} is missing`;
      yield { code: 'incomplete_template', field: `template_values.${name}`, message };
    }
  }
  yield* unknownMembers(ControlDefinitionSchema, template.definition_template, {
    spelling: 'rest',
    path: 'data.template.definition_template',
    isPlaceholder,
  });
}

/** Warnings about a scope that are independent of existing steps. */
export function* scopeWarnings(scope: Scope): Generator<Warning, void> {
  const { step_types: types = [], step_names: names = [], step_name_regex: regex = '' } = scope;
  yield* textWarnings(types, 'data.scope.step_types');
  yield* textWarnings(names, 'data.scope.step_names');
  for (const [index, name] of names.entries()) {
    if (name.trim() === name) continue;
    const message = `${quoted(name)} has blanks around it, and step names are compared exactly`;
    yield { code: 'surrounding_blanks', field: `data.scope.step_names[${index}]`, message };
  }
  if (regex !== '') yield* regexWarnings(regex, 'data.scope.step_name_regex');
}

function* regexWarnings(regex: string, field: string): Generator<Warning, void> {
  yield* textWarnings(regex, field);
  if (neverMatches(regex, { onlyNonEmptyTexts: true })) {
    yield { code: 'never_matches', field, message: 'the pattern is found in no step name' };
  } else if (endsAtTextOnly(regex)) {
    const message =
      '"$" is the very end of a step name: a name with a line break behind it is not looked at; ' +
      'write \\s*$ to look at that too';
    yield { code: 'end_anchor', field, message };
  }
}
