import { type ControlDefinition, leavesOf, type Scope } from '../controls/definition.js';
import { compilePattern } from '../evaluators/linear-pattern.js';
import { isObject, type JsonObject } from '../json/json-value.js';
import { quoted } from '../warnings/quoted.js';
import { closest, didYouMean, editDistance } from '../warnings/suggestion.js';
import type { Warning } from '../warnings/warning.js';
import type { RegisteredStep, StepCatalogue } from './steps-catalogue.js';

/** Types that need no registration. */
const BUILT_IN_TYPES = ['tool', 'llm'] as const;
export function isBuiltInType(type: string): boolean {
  return BUILT_IN_TYPES.some((one) => one === type);
}

/** Most search steps for the names that a pattern is compared with: some 40 ms. */
const MAX_SEARCH_STEPS = 3_000_000;
/** Keywords with which a schema may allow members that it does not name. */
const OPEN_KEYWORDS = [
  ...['patternProperties', 'propertyNames', 'unevaluatedProperties', '$ref', '$dynamicRef'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
];

/**
 * Parts of a definition that fit no registered step. Without a complete catalogue only misspellings are told: that
 * nothing has a name cannot be known then.
 */
export function* stepNotes(
  definition: ControlDefinition,
  catalogue: StepCatalogue,
): Generator<Warning, void> {
  const scope = definition.scope ?? {};
  yield* typeNotes(scope, catalogue);
  // Where nothing is registered, nothing can be compared.
  const ofTypes = stepsOfTypes(scope, catalogue.steps);
  if (ofTypes.length > 0) {
    yield* nameNotes(scope, ofTypes, catalogue);
    yield* patternNotes(scope, ofTypes, catalogue);
  }
  if (catalogue.isComplete) yield* selectorNotes(definition, stepsOfNames(scope, ofTypes));
}

function* typeNotes({ step_types: types = [] }: Scope, catalogue: StepCatalogue): Generator<Warning, void> {
  const registered = new Set(catalogue.steps.map(({ type }) => type));
  const known = [...BUILT_IN_TYPES, ...registered];
  for (const [index, type] of types.entries()) {
    if (known.includes(type)) continue;
    const field = `data.scope.step_types[${index}]`;
    const meant = BUILT_IN_TYPES.find((one) => editDistance(one, type.trim().toLowerCase()) <= 1);
    const message = `no step of the type ${quoted(type)} is built in or registered by ${catalogue.owner}`;
    if (meant !== undefined) {
      yield { code: 'misspelled_step_type', field, message: `${message}; did you mean ${meant}?` };
    } else if (catalogue.isComplete || closest(type, known) !== undefined) {
      yield { code: 'unregistered_step_type', field, message: message + didYouMean(type, known) };
    }
  }
}

function* nameNotes(
  { step_names: names = [] }: Scope,
  steps: readonly RegisteredStep[],
  { owner, isComplete }: StepCatalogue,
): Generator<Warning, void> {
  const registered = new Set(steps.map(({ name }) => name));
  for (const [index, name] of names.entries()) {
    if (registered.has(name) || (!isComplete && closest(name, registered) === undefined)) continue;
    const message = `no step named ${quoted(name)} is registered by ${owner}${didYouMean(name, registered)}`;
    yield { code: 'unregistered_step_name', field: `data.scope.step_names[${index}]`, message };
  }
}

function* patternNotes(
  { step_name_regex: regex = '' }: Scope,
  steps: readonly RegisteredStep[],
  { owner, isComplete }: StepCatalogue,
): Generator<Warning, void> {
  if (regex === '' || !isComplete) return;
  const search = boundedSearch(regex);
  if (steps.some(({ name }) => search(name) !== false)) return;
  const message = `the pattern is found in none of the names of steps that are registered by ${owner}`;
  yield { code: 'unmatched_step_name_regex', field: 'data.scope.step_name_regex', message };
}

/** Searches names for a pattern until that has cost too much; null from then on. */
function boundedSearch(regex: string): (name: string) => boolean | null {
  const pattern = compilePattern(regex);
  let left = MAX_SEARCH_STEPS;
  const meter = {
    spend(steps: number) {
      left -= steps;
    },
  };
  return (name) => {
    if (left <= 0) return null;
    try {
      return pattern.test(name, meter);
    } catch {
      return null;
    }
  };
}

function* selectorNotes(
  { condition }: ControlDefinition,
  steps: readonly RegisteredStep[],
): Generator<Warning, void> {
  if (steps.length === 0) return;
  for (const { leaf, path } of leavesOf(condition, 'data.condition')) {
    const [root = '', member] = (leaf.selector.path ?? '*').split('.');
    if ((root !== 'input' && root !== 'output') || member === undefined) continue;
    const schemas = steps.map((step) => (root === 'input' ? step.input_schema : step.output_schema));
    const allowed = schemas.map((schema) => membersAllowedBy(schema));
    // One step that may have the member is enough.
    if (allowed.some((names) => names === null || names.has(member))) continue;
    const names = new Set(allowed.flatMap((one) => [...(one ?? [])]));
    const message = `the ${root}_schema of no registered step that the scope selects allows ${quoted(member)}`;
    const field = `${path}.selector.path`;
    yield { code: 'unreachable_selector', field, message: message + didYouMean(member, names) };
  }
}

/** The only members that a schema allows; null when it may allow others. */
function membersAllowedBy(schema: JsonObject | null): ReadonlySet<string> | null {
  if (schema === null || OPEN_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return null;
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== false) return null;
  return new Set(isObject(properties) ? Object.keys(properties) : []);
}

function stepsOfTypes({ step_types: types }: Scope, steps: readonly RegisteredStep[]): RegisteredStep[] {
  return steps.filter(({ type }) => types === undefined || types.includes(type));
}

function stepsOfNames(scope: Scope, steps: readonly RegisteredStep[]): RegisteredStep[] {
  const { step_names: names = [], step_name_regex: regex = '' } = scope;
  if (names.length === 0 && regex === '') return [...steps];
  const search = regex === '' ? () => false : boundedSearch(regex);
  return steps.filter(({ name }) => names.includes(name) || search(name) !== false);
}
