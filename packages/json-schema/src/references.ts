import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { resolveReference, SchemaWorkError } from './reference.js';
import { schemaMember, subschemas } from './subschemas.js';

/**
 * Longest chain of schemas that apply one another to the same value; a longer one is circular, or crafted to
 * be long.
 */
const MAX_SAME_VALUE_CHAIN = 100;

/** Every schema of a document, with the target of its reference; undefined where it has none. */
export type References = ReadonlyMap<JsonObject, JsonValue | undefined>;

/**
 * Finds the schemas of a document and resolves their references. `verify` is called for values that are
 * schemas only by reference. Throws a SchemaWorkError when a reference leaves the document or does not
 * resolve, or when schemas refer to one another in a circle.
 */
export function findReferences(root: JsonObject, verify: (schema: JsonObject) => void): References {
  const targets = new Map<JsonObject, JsonValue | undefined>();
  const named = new Map<string, JsonObject>();
  const referring: JsonObject[] = [];

  function gather(top: JsonObject): void {
    const pending = [top];
    for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
      if (targets.has(schema)) continue;
      targets.set(schema, undefined);
      noteId(schema);
      if (typeof schemaMember(schema, '$ref') === 'string') referring.push(schema);
      for (const below of subschemas(schema)) pending.push(below.schema);
    }
  }

  /** An id within the document may only be a plain name: others would change the base of references. */
  function noteId(schema: JsonObject): void {
    const id = schemaMember(schema, '$id');
    if (typeof id !== 'string' || schema === root || typeof schemaMember(schema, '$ref') === 'string') return;
    if (!id.startsWith('#')) throw new SchemaWorkError('has an $id below its top; use definitions instead');
    if (!named.has(id)) named.set(id, schema);
  }

  gather(root);
  // Grows during iteration: schemas found by reference may refer to others.
  for (const schema of referring) {
    const reference = withinDocument(root, schema.$ref as string);
    const target = named.get(reference) ?? resolveReference(root, reference);
    if (isObject(target) && !targets.has(target)) {
      verify(target);
      gather(target);
    } else if (typeof target !== 'object' && typeof target !== 'boolean') {
      throw new SchemaWorkError(`refers to ${reference}, which is no schema`);
    }
    targets.set(schema, target);
  }
  refuseCircles(targets);
  return targets;
}

/** A reference that begins with the id of the document stays within the document. */
function withinDocument(root: JsonObject, reference: string): string {
  const id = schemaMember(root, '$id');
  const base = typeof id === 'string' ? id.replace(/#$/, '') : '';
  if (base === '' || !reference.startsWith(base)) return reference;
  const rest = reference.slice(base.length);
  return rest === '' ? '#' : rest.startsWith('#') ? rest : reference;
}

function refuseCircles(targets: References): void {
  const heights = new Map<JsonObject, number>();
  const heightOf = (schema: JsonObject, depth: number): number => {
    const known = heights.get(schema);
    if (depth + (known ?? 0) > MAX_SAME_VALUE_CHAIN) {
      throw new SchemaWorkError(
        `refers to itself without end, or applies more than ${MAX_SAME_VALUE_CHAIN} schemas one within another`,
      );
    }
    if (known !== undefined) return known;
    let height = 0;
    for (const below of appliedToSameValue(schema, targets.get(schema))) {
      height = Math.max(height, 1 + heightOf(below, depth + 1));
    }
    heights.set(schema, height);
    return height;
  };
  for (const schema of targets.keys()) heightOf(schema, 0);
}

function appliedToSameValue(schema: JsonObject, target: JsonValue | undefined): JsonObject[] {
  if (target !== undefined) return isObject(target) ? [target] : [];
  return subschemas(schema)
    .filter(({ sameValue }) => sameValue)
    .map((below) => below.schema);
}
