import { isObject, type JsonObject } from '../../exact-json/src/index.js';
import type { SchemaKeywords } from './dialects.js';
import { listOf, objectOf, own } from './keyword.js';

/** Keywords whose schemas are applied to the same value as the enclosing schema. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf',
  'dependencies',
  'dependentSchemas',
]);

/** A direct subschema. */
export interface Subschema {
  readonly schema: JsonObject;
  /** Whether it is applied to the same value as the enclosing one. */
  readonly sameValue: boolean;
}

/** The direct subschemas of a schema; those that are true or false contain nothing and are omitted. */
export function subschemas(schema: JsonObject, { one, list, map }: SchemaKeywords): Subschema[] {
  const within = (names: readonly string[], read: (name: string) => readonly unknown[]) =>
    names.flatMap((name) =>
      read(name)
        .filter((value) => isObject(value as JsonObject))
        .map((value) => ({ schema: value as JsonObject, sameValue: SAME_VALUE.has(name) })),
    );
  return [
    ...within(one, (name) => [own(schema, name)]),
    ...within(list, (name) => listOf(own(schema, name))),
    ...within(map, (name) => Object.values(objectOf(own(schema, name)))),
  ];
}
