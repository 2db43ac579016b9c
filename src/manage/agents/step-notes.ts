import { isObject, type JsonObject } from '../../../packages/exact-json/src/index.js';
import { compilePattern } from '../../../packages/linear-text/src/index.js';
import { quoted } from '../../contract/errors/quoted.js';
import { createSuggester, editDistance } from '../../contract/warnings/suggestion.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { configPaths } from '../../kernel/evaluators/memory/memory-evaluators.js';
import { type ControlDefinition, leavesOf, type Scope } from '../controls/definition/definition.js';
import { guaranteeNotes } from './guaranteed-path.js';
import type { RegisteredStep, StepCatalogue } from './steps-catalogue.js';

/** Types that need no registration. */
const BUILT_IN_TYPES = ['tool', 'llm'] as const;

export function isBuiltInType(type: string): boolean {
  return BUILT_IN_TYPES.some((one) => one === type);
}

/** Most search steps for the names that a pattern is compared with: some 40 ms. */
const MAX_SEARCH_STEPS = 3_000_000;
/** Longest step type that is compared with the built-in ones. */
const MAX_TYPE_LENGTH = 20;
/** Keywords by which a schema may allow members that it does not name. */
const OPEN_KEYWORDS = [
  ...['patternProperties', 'propertyNames', 'unevaluatedProperties', '$ref', '$dynamicRef'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
];

/**
 * Parts of a definition that match no registered step. With an incomplete catalogue only misspellings are
 * reported: the absence of a name is then unknown.
 */
export function* stepNotes(
  definition: ControlDefinition,
  catalogue: StepCatalogue,
): Generator<Warning, void> {
  const scope = definition.scope ?? {};
  yield* typeNotes(scope, catalogue);
  const ofTypes = stepsOfTypes(scope, catalogue.steps);
  // Without registered steps there is nothing to compare.
  if (ofTypes.length === 0) return;
  yield* nameNotes(scope, ofTypes, catalogue);
  const steps = stepsOfNames(scope, ofTypes);
  const unreachable = new Set<string>();
  if (catalogue.isComplete) {
    yield* patternNotes(scope, ofTypes, catalogue);
    for (const note of selectorNotes(definition, steps)) {
      unreachable.add(note.field);
      yield note;
    }
  }
  const { step_names: names = [], step_name_regex: regex = '' } = scope;
  const namesSteps = names.length > 0 || regex !== '';
  // Steps of all agents are not those that a control is for, unless it names them.
  if (!namesSteps && !catalogue.isOfAgent) return;
  for (const note of guaranteeNotes(definition, steps, namesSteps)) {
    if (!unreachable.has(`${note.field}.path`)) yield note;
  }
}

function* typeNotes({ step_types: types = [] }: Scope, catalogue: StepCatalogue): Generator<Warning, void> {
  const known = new Set<string>(BUILT_IN_TYPES);
  for (const { type } of catalogue.steps) known.add(type);
  const suggester = createSuggester();
  for (const [index, type] of types.entries()) {
    if (known.has(type)) continue;
    const field = `data.scope.step_types[${index}]`;
    const message = `no step of the type ${quoted(type)} is built in or registered by ${catalogue.owner}`;
    const builtIn = misspelledType(type);
    if (builtIn !== undefined) {
      yield { code: 'misspelled_step_type', field, message: `${message}; did you mean ${builtIn}?` };
      continue;
    }
    const meant = suggester.didYouMean(type, known);
    if (!catalogue.isComplete && meant === '') continue;
    yield { code: 'unregistered_step_type', field, message: message + meant };
  }
}

/** The built-in type that differs from a type in case or one character. */
function misspelledType(type: string): string | undefined {
  if (type.length > MAX_TYPE_LENGTH) return undefined;
  const plain = type.trim().toLowerCase();
  return BUILT_IN_TYPES.find((one) => editDistance(one, plain) <= 1);
}

function* nameNotes(
  { step_names: names = [] }: Scope,
  steps: readonly RegisteredStep[],
  { owner, isComplete }: StepCatalogue,
): Generator<Warning, void> {
  const registered = new Set(steps.map(({ name }) => name));
  const suggester = createSuggester();
  for (const [index, name] of names.entries()) {
    if (registered.has(name)) continue;
    const meant = suggester.didYouMean(name, registered);
    if (!isComplete && meant === '') continue;
    const message = `no step named ${quoted(name)} is registered by ${owner}${meant}`;
    yield { code: 'unregistered_step_name', field: `data.scope.step_names[${index}]`, message };
  }
}

function* patternNotes(
  { step_name_regex: regex = '' }: Scope,
  steps: readonly RegisteredStep[],
  { owner }: StepCatalogue,
): Generator<Warning, void> {
  if (regex === '') return;
  const search = boundedSearch(regex);
  if (steps.some(({ name }) => search(name) !== false)) return;
  const message = `the pattern is found in none of the names of steps that are registered by ${owner}`;
  yield { code: 'unmatched_step_name_regex', field: 'data.scope.step_name_regex', message };
}

/** Searches names for a pattern up to a cost limit; returns null beyond it. */
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
  const members = {
    input: membersAllowedBySome(steps.map(({ input_schema: schema }) => schema)),
    output: membersAllowedBySome(steps.map(({ output_schema: schema }) => schema)),
  };
  const suggester = createSuggester();
  for (const { path, field } of pathsOf(condition)) {
    const [root = '', member] = path.split('.');
    if ((root !== 'input' && root !== 'output') || member === undefined) continue;
    const allowed = members[root];
    if (allowed === null || allowed.has(member)) continue;
    const meant = suggester.didYouMean(member, allowed);
    const message = `no registered step that the scope selects has an ${root}_schema that allows ${quoted(member)}`;
    yield { code: 'unreachable_selector', field, message: message + meant };
  }
}

/** All paths to parts of a step: those of selectors, and those that checks with memory read. */
function* pathsOf(
  condition: ControlDefinition['condition'],
): Generator<{ path: string; field: string }, void> {
  for (const { leaf, path: place } of leavesOf(condition, 'data.condition')) {
    yield { path: leaf.selector.path ?? '*', field: `${place}.selector.path` };
    const { name, config } = leaf.evaluator;
    for (const one of configPaths(name, config)) {
      yield { path: one.path, field: `${place}.evaluator.config.${one.place}` };
    }
  }
}

/** The only members that some of the schemas allow; null when one of them may allow others. */
function membersAllowedBySome(schemas: readonly (JsonObject | null)[]): ReadonlySet<string> | null {
  const members = new Set<string>();
  for (const schema of schemas) {
    if (schema === null || OPEN_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return null;
    const { properties, additionalProperties } = schema;
    if (additionalProperties !== false) return null;
    if (isObject(properties)) for (const name of Object.keys(properties)) members.add(name);
  }
  return members;
}

/** The registered steps that a scope selects by type and name. */
export function selectedSteps(scope: Scope, { steps }: StepCatalogue): readonly RegisteredStep[] {
  return stepsOfNames(scope, stepsOfTypes(scope, steps));
}

function stepsOfTypes(
  { step_types: types }: Scope,
  steps: readonly RegisteredStep[],
): readonly RegisteredStep[] {
  if (types === undefined) return steps;
  const selected = new Set(types);
  return steps.filter(({ type }) => selected.has(type));
}

function stepsOfNames(scope: Scope, steps: readonly RegisteredStep[]): readonly RegisteredStep[] {
  const { step_names: names = [], step_name_regex: regex = '' } = scope;
  if (names.length === 0 && regex === '') return steps;
  const selected = new Set(names);
  const search = regex === '' ? () => false : boundedSearch(regex);
  return steps.filter(({ name }) => selected.has(name) || search(name) !== false);
}
