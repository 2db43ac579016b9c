import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject } from '../code/json-members.js';
import { resolveSchema } from '../schema-form/resolve-schema.js';

/** A path that a selector can have. */
export interface KnownPath {
  readonly path: string;
  /** What it leads to, for example `string · send_mail`. */
  readonly note: string;
}

/** A registered step, as far as paths need it. */
export interface StepSchemas {
  readonly name?: string | undefined;
  readonly inputSchema?: JsonObject | undefined;
  readonly outputSchema?: JsonObject | undefined;
}

const ROOTS: readonly KnownPath[] = [
  { path: '*', note: 'the whole step' },
  { path: 'input', note: 'what the step gets' },
  { path: 'output', note: 'what the step gave, after it has run' },
  { path: 'name', note: 'name of the step' },
  { path: 'type', note: 'type of the step, such as tool or llm' },
  { path: 'context', note: 'what the agent knows beside it' },
];
const ROOT_NAMES = new Set(ROOTS.map(({ path }) => path));
const MAX_DEPTH = 6;
const MAX_PATHS = 2_000;
const MAX_COMPLETIONS = 50;
const MAX_STEPS_NAMED = 2;

/** The paths that steps can have by their schemas, each once, beside the members of every step. */
export function knownPaths(steps: readonly StepSchemas[]): KnownPath[] {
  const types = new Map<string, { readonly words: Set<string>; readonly steps: Set<string> }>();
  for (const { name = '', inputSchema, outputSchema } of steps) {
    for (const [root, schema] of [
      ['input', inputSchema],
      ['output', outputSchema],
    ] as const) {
      if (schema === undefined) continue;
      for (const [path, type] of pathsOf(schema, root)) {
        if (types.size >= MAX_PATHS && !types.has(path)) break;
        const known = types.get(path) ?? { words: new Set(), steps: new Set() };
        if (type !== '') known.words.add(type);
        known.steps.add(name);
        types.set(path, known);
      }
    }
  }
  const found = [...types].map(([path, known]) => ({ path, note: noteOf(known.words, known.steps) }));
  return [...ROOTS, ...found.sort((one, other) => (one.path < other.path ? -1 : 1))];
}

function noteOf(words: ReadonlySet<string>, steps: ReadonlySet<string>): string {
  const names = [...steps].filter((name) => name !== '');
  const more = names.length - MAX_STEPS_NAMED;
  const shown = names.slice(0, MAX_STEPS_NAMED).join(', ');
  return [[...words].join(' or '), more > 0 ? `${shown} and ${more} more` : shown]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Pairs of the path and the type of each member. Items of lists, and names with dots, have no path. */
function* pathsOf(root: JsonObject, prefix: string): Generator<readonly [string, string], void> {
  const pending: (readonly [string, JsonValue, number])[] = [[prefix, root, 0]];
  // Breadth first, so that a schema that contains itself does not hide the members beside it.
  for (const [path, value, depth] of pending) {
    if (pending.length > MAX_PATHS) return;
    const schema = resolveSchema(root, value);
    if (depth > 0) yield [path, typeWord(schema)];
    if (depth >= MAX_DEPTH) continue;
    for (const [name, member] of membersOf(root, schema)) {
      if (!name.includes('.')) pending.push([`${path}.${name}`, member, depth + 1]);
    }
  }
}

function membersOf(root: JsonObject, schema: JsonObject): [string, JsonValue][] {
  const { properties, oneOf, anyOf } = schema;
  const own = isJsonObject(properties) ? Object.entries(properties) : [];
  const alternatives = [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const others = alternatives.flatMap((one) => {
    const { properties: members } = resolveSchema(root, one);
    return isJsonObject(members) ? Object.entries(members) : [];
  });
  return [...new Map([...others, ...own])];
}

function typeWord({ type }: JsonObject): string {
  if (typeof type === 'string') return type;
  return Array.isArray(type) ? type.filter((one) => typeof one === 'string').join(' or ') : '';
}

/**
 * The paths that a typed text can become: those that begin with it, one level at a time, then those that contain it.
 * An empty text gives the members of every step and the first level below them.
 */
export function completions(known: readonly KnownPath[], typed: string): KnownPath[] {
  const text = typed.trim().toLowerCase();
  const dots = text.split('.').length;
  const depth = (path: string) => path.split('.').length;
  const isNear = (path: string) => depth(path) <= (text === '' ? 2 : dots + 1);
  const starting = known.filter(({ path }) => path.toLowerCase().startsWith(text));
  const near = starting.filter(({ path }) => isNear(path));
  const far = starting.filter(({ path }) => !isNear(path));
  const containing = text === '' ? [] : known.filter(({ path }) => path.toLowerCase().indexOf(text) > 0);
  return [...near, ...(text === '' ? [] : far), ...containing].slice(0, MAX_COMPLETIONS);
}

/** What is wrong with a path; null if nothing. What follows the first dot is free. */
export function pathProblem(path: string): string | null {
  if (path === '') return null;
  const [root = ''] = path.split('.');
  if (ROOT_NAMES.has(root)) return null;
  return 'A path begins with input, output, context, name or type, or is *.';
}
