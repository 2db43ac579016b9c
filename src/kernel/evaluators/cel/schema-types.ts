import type { CelType, MemberType } from '../../../../packages/cel/src/index.js';
import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { ANY, plain, unionOf } from './variables.js';

/** Deepest part of a schema that is read, and most parts of one: what lies beyond has an unknown type. */
const MAX_DEPTH = 16;
const MAX_PARTS = 5_000;

/** Keywords by which a schema may name members elsewhere than in its properties. */
const COMBINING = [
  'allOf',
  'anyOf',
  'oneOf',
  '$ref',
  '$dynamicRef',
  'if',
  'dependentSchemas',
  'dependencies',
];

/** The types of JSON Schema. An integer may be written with a fraction of zero, so both are numbers. */
const KINDS: Readonly<Record<string, CelType>> = {
  null: plain('null'),
  boolean: plain('bool'),
  integer: plain('number'),
  number: plain('number'),
  string: plain('string'),
};

/**
 * The type of the values that a JSON Schema (draft 7 or 2020-12) allows, by the keywords `type`, `properties`, `required`,
 * `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `oneOf`, `allOf` and `$ref` within the schema. What other
 * keywords say is left out, which allows more values, never fewer. `closed`: whether objects are taken to have no members
 * but those that the schema names, whatever it says.
 */
export function schemaType(schema: JsonValue, closed = false): CelType {
  const reader: Reader = { root: schema, closed, parts: 0 };
  return typeOf(schema, reader, 0, []);
}

interface Reader {
  readonly root: JsonValue;
  readonly closed: boolean;
  parts: number;
}

/** `refs`: the references that are being followed. */
function typeOf(
  schema: JsonValue | undefined,
  reader: Reader,
  depth: number,
  refs: readonly string[],
): CelType {
  reader.parts += 1;
  if (!isObject(schema) || depth > MAX_DEPTH || reader.parts > MAX_PARTS) return ANY;
  const all: CelType[] = [ownType(schema, reader, depth, refs)];
  const inner = (part: JsonValue): CelType => typeOf(part, reader, depth + 1, refs);
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts = listOf(schema, keyword);
    if (parts !== undefined && parts.length > 0) all.push(unionOf(parts.map(inner)));
  }
  for (const part of listOf(schema, 'allOf') ?? []) all.push(inner(part));
  const ref = memberOf(schema, '$ref');
  if (typeof ref === 'string') {
    const target = refs.includes(ref) ? undefined : pointedAt(reader.root, ref);
    all.push(target === undefined ? ANY : typeOf(target, reader, depth + 1, [...refs, ref]));
  }
  return all.reduce(both);
}

function ownType(schema: JsonObject, reader: Reader, depth: number, refs: readonly string[]): CelType {
  const values = valuesOf(schema);
  if (values !== undefined) return unionOf(values.map(typeOfValue));
  const type = memberOf(schema, 'type');
  const names = Array.isArray(type) ? type : [type ?? impliedType(schema)];
  return unionOf(
    names.map((name) => {
      if (name === 'object') return objectType(schema, reader, depth, refs);
      if (name === 'array') return { kind: 'list', item: itemType(schema, reader, depth, refs) };
      return (typeof name === 'string' ? KINDS[name] : undefined) ?? ANY;
    }),
  );
}

/** Schemas without `type` that name members are nearly always meant for objects; by the letter any value is allowed. */
function impliedType(schema: JsonObject): JsonValue {
  return isObject(memberOf(schema, 'properties')) ? 'object' : null;
}

function objectType(schema: JsonObject, reader: Reader, depth: number, refs: readonly string[]): CelType {
  const properties = memberOf(schema, 'properties');
  const additional = memberOf(schema, 'additionalProperties');
  const patterns = memberOf(schema, 'patternProperties');
  const names = isObject(properties) ? Object.keys(properties) : [];
  const hasPatterns = isObject(patterns) && Object.keys(patterns).length > 0;
  if (names.length === 0 && isObject(additional) && !hasPatterns) {
    return { kind: 'map', value: typeOf(additional, reader, depth + 1, refs) };
  }
  const required = new Set(listOf(schema, 'required') ?? []);
  const members = new Map<string, MemberType>();
  for (const name of names) {
    const part = (properties as JsonObject)[name] ?? null;
    const description = isObject(part) ? memberOf(part, 'description') : undefined;
    members.set(name, {
      type: typeOf(part, reader, depth + 1, refs),
      required: required.has(name),
      ...(typeof description === 'string' ? { description } : {}),
    });
  }
  const mayHaveOthers = additional !== false || hasPatterns;
  // A schema that names no members says nothing about them, and others may name more.
  const namesAll = names.length > 0 && !COMBINING.some((keyword) => Object.hasOwn(schema, keyword));
  const closed = reader.closed && namesAll && !isObject(additional) && !hasPatterns;
  return { kind: 'object', members, open: mayHaveOthers && !closed };
}

function itemType(schema: JsonObject, reader: Reader, depth: number, refs: readonly string[]): CelType {
  const items = memberOf(schema, 'items');
  const inner = (part: JsonValue): CelType => typeOf(part, reader, depth + 1, refs);
  const prefix = Array.isArray(items) ? items : (listOf(schema, 'prefixItems') ?? []);
  if (prefix.length === 0) return isObject(items) ? inner(items) : ANY;
  const rest = Array.isArray(items) ? memberOf(schema, 'additionalItems') : items;
  return rest === false ? unionOf(prefix.map(inner)) : unionOf([...prefix, rest ?? true].map(inner));
}

/** The values that `const` or `enum` lists. */
function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const ?? null];
  const values = listOf(schema, 'enum');
  return values !== undefined && values.length > 0 ? values : undefined;
}

function typeOfValue(value: JsonValue): CelType {
  if (value === null) return plain('null');
  if (typeof value === 'string') return plain('string');
  if (typeof value === 'boolean') return plain('bool');
  if (Array.isArray(value)) return { kind: 'list', item: ANY };
  return isObject(value) ? { kind: 'map', value: ANY } : plain('number');
}

/** A type of values of both types, as far as it can be told: the more definite one, members of objects together. */
function both(left: CelType, right: CelType): CelType {
  if (left.kind === 'any') return right;
  if (left.kind !== 'object' || right.kind !== 'object') return left;
  const members = new Map(left.members);
  for (const [name, member] of right.members) {
    const known = members.get(name);
    members.set(
      name,
      known === undefined
        ? member
        : {
            ...member,
            ...known,
            type: both(known.type, member.type),
            required: known.required || member.required,
          },
    );
  }
  return { kind: 'object', members, open: left.open || right.open };
}

/** The part of a schema at a reference within it, which is a JSON Pointer (RFC 6901); undefined for any other. */
function pointedAt(root: JsonValue, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined;
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of ref.slice(2).split('/')) {
    const name = decoded(part);
    if (name === undefined) return undefined;
    if (Array.isArray(at)) at = at[Number(name)];
    else if (isObject(at)) at = memberOf(at, name);
    else return undefined;
  }
  return at;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function memberOf(schema: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

function listOf(schema: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = memberOf(schema, name);
  return Array.isArray(value) ? value : undefined;
}
