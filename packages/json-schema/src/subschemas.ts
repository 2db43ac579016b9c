import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';

/** Keywords of draft 7 whose value is one schema, a list of schemas, or schemas by name. */
const SCHEMA = [
  'not',
  'if',
  'then',
  'else',
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
] as const;
const SCHEMA_LIST = ['allOf', 'anyOf', 'oneOf', 'items'] as const;
const SCHEMA_MAP = ['properties', 'patternProperties', 'dependencies', 'definitions'] as const;

/** Those of them that are applied to the same value as the enclosing schema. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf',
  'dependencies',
]);

/** A direct subschema. */
export interface Subschema {
  readonly schema: JsonObject;
  /** Whether it is applied to the same value as the enclosing one. */
  readonly sameValue: boolean;
}

/** The direct subschemas of a schema; those that are true or false contain nothing and are omitted. */
export function subschemas(schema: JsonObject): Subschema[] {
  const found: Subschema[] = [];
  const add = (keyword: string, value: JsonValue | undefined) => {
    if (isObject(value)) found.push({ schema: value, sameValue: SAME_VALUE.has(keyword) });
  };
  for (const keyword of SCHEMA) add(keyword, schemaMember(schema, keyword));
  for (const keyword of SCHEMA_LIST) {
    const list = schemaMember(schema, keyword);
    if (Array.isArray(list)) for (const one of list) add(keyword, one);
  }
  for (const keyword of SCHEMA_MAP) {
    const map = schemaMember(schema, keyword);
    if (isObject(map)) for (const one of Object.values(map)) add(keyword, one);
  }
  return found;
}

/** An own member; undefined when there is none. */
export function schemaMember(schema: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}
