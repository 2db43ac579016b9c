import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import type { Surroundings } from '../surroundings.js';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A text of a document that names variables. */
export interface NamedVariables {
  readonly path: readonly PropertyKey[];
  readonly names: readonly string[];
}

/** The texts with `${NAME}`, in the order of the document. */
export function* namedVariables(
  value: JsonValue,
  path: readonly PropertyKey[] = [],
): Generator<NamedVariables> {
  if (typeof value === 'string') {
    const names = [...value.matchAll(VARIABLE)].map(([, name = '']) => name);
    if (names.length > 0) yield { path, names: [...new Set(names)] };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* namedVariables(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* namedVariables(member, [...path, name]);
  }
}

/** A document with variables in place of `${NAME}` in its texts; names of members stay. All of them exist. */
export function expandVariables(value: JsonObject, env: Surroundings['env']): JsonObject {
  const text = (given: string): string => given.replaceAll(VARIABLE, (_, name: string) => env[name] ?? '');
  const expand = (given: JsonValue): JsonValue => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(expand);
    return isObject(given) ? object(given) : given;
  };
  const object = (given: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(given).map(([name, member]) => [name, expand(member)]));
  return object(value);
}
