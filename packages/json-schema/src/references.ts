import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import type { Dialect } from './dialects.js';
import { objectOf, own } from './keyword.js';
import { SchemaError } from './schema-error.js';

/**
 * Longest chain of schemas that apply one another to the same value; a longer one is circular, or crafted to
 * be long.
 */
const MAX_SAME_VALUE_CHAIN = 100;

/** Targets of the references of one schema, by keyword. */
type Targets = ReadonlyMap<string, JsonValue>;

/** Every schema of a document, with the targets of its references. */
export type References = ReadonlyMap<JsonObject, Targets>;

const NO_TARGETS: Targets = new Map();

/**
 * Finds the schemas of a document and resolves their references. `verify` is called for values that are
 * schemas only by reference. Throws a SchemaError when a reference leaves the document or does not resolve,
 * when schemas refer to one another in a circle, or when a keyword is not supported.
 */
export function findReferences(
  root: JsonObject,
  dialect: Dialect,
  verify: (schema: JsonObject) => void,
): References {
  const found = new Map<JsonObject, Targets>();
  const named = new Map<string, JsonObject>();
  const referring: JsonObject[] = [];

  function gather(top: JsonObject): void {
    const pending = [top];
    for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
      if (found.has(schema)) continue;
      found.set(schema, NO_TARGETS);
      refuseUnsupported(schema);
      noteNames(schema);
      if (referencesIn(schema).length > 0) referring.push(schema);
      for (const below of subschemas(schema, dialect)) pending.push(below);
    }
  }

  function refuseUnsupported(schema: JsonObject): void {
    const keyword = dialect.unsupported.find((name) => (own(schema, name) ?? false) !== false);
    if (keyword !== undefined) {
      throw new SchemaError(`has the keyword ${keyword}, which is not supported`, 'unsupported');
    }
  }

  function noteNames(schema: JsonObject): void {
    const id = own(schema, '$id');
    const isOverridden = dialect.overridingRef && typeof own(schema, '$ref') === 'string';
    if (typeof id === 'string' && schema !== root && !isOverridden) {
      // Any other id would change the base of references.
      if (dialect.hasAnchors || !id.startsWith('#')) {
        throw new SchemaError('has an $id below its top; $id is not supported there', 'unsupported');
      }
      if (!named.has(id)) named.set(id, schema);
    }
    for (const keyword of dialect.hasAnchors ? ['$anchor', '$dynamicAnchor'] : []) {
      const name = own(schema, keyword);
      if (typeof name !== 'string') continue;
      if ((named.get(`#${name}`) ?? schema) !== schema) throw new SchemaError(`has the anchor ${name} twice`);
      named.set(`#${name}`, schema);
    }
  }

  function referencesIn(schema: JsonObject): (readonly [keyword: string, reference: string])[] {
    return ['$ref', '$dynamicRef'].flatMap((keyword) => {
      const reference = dialect.keywords.has(keyword) ? own(schema, keyword) : undefined;
      return typeof reference === 'string' ? [[keyword, reference] as const] : [];
    });
  }

  function targetOf(given: string): JsonValue {
    const reference = withinDocument(root, given);
    const target = named.get(reference) ?? resolvePointer(root, reference);
    if (isObject(target) && !found.has(target)) {
      verify(target);
      gather(target);
    } else if (!isObject(target) && typeof target !== 'boolean') {
      throw new SchemaError(`refers to ${reference}, which is no schema`);
    }
    return target;
  }

  gather(root);
  // Grows during iteration: schemas found by reference may refer to others.
  for (const schema of referring) {
    const targets = referencesIn(schema).map(([keyword, given]) => [keyword, targetOf(given)] as const);
    found.set(schema, new Map(targets));
  }
  refuseCircles(found, dialect);
  return found;
}

/** A reference that begins with the id of the document stays within the document. */
function withinDocument(root: JsonObject, reference: string): string {
  const id = own(root, '$id');
  const base = typeof id === 'string' ? id.replace(/#$/, '') : '';
  if (base === '' || !reference.startsWith(base)) return reference;
  const rest = reference.slice(base.length);
  return rest === '' ? '#' : rest.startsWith('#') ? rest : reference;
}

function resolvePointer(root: JsonObject, reference: string): JsonValue {
  if (reference === '#') return root;
  if (!reference.startsWith('#')) {
    throw new SchemaError('refers to something outside itself; only # and #/… are supported');
  }
  const parts = reference.startsWith('#/') ? reference.slice(2).split('/').map(decodePart) : [];
  let found: JsonValue | undefined = parts.length === 0 ? undefined : root;
  for (const name of parts) {
    if (Array.isArray(found)) found = /^\d+$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) ? own(found, name) : undefined;
  }
  if (found === undefined) throw new SchemaError(`refers to ${reference}, which is not there`);
  return found;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new SchemaError('has a reference that cannot be decoded');
  }
}

function refuseCircles(found: References, dialect: Dialect): void {
  const heights = new Map<JsonObject, number>();
  const heightOf = (schema: JsonObject, depth: number): number => {
    const known = heights.get(schema);
    if (depth + (known ?? 0) > MAX_SAME_VALUE_CHAIN) {
      throw new SchemaError(
        `refers to itself without end, or applies more than ${MAX_SAME_VALUE_CHAIN} schemas one within another`,
        'unsupported',
      );
    }
    if (known !== undefined) return known;
    let height = 0;
    for (const below of appliedToSameValue(schema, found.get(schema) ?? NO_TARGETS, dialect)) {
      height = Math.max(height, 1 + heightOf(below, depth + 1));
    }
    heights.set(schema, height);
    return height;
  };
  for (const schema of found.keys()) heightOf(schema, 0);
}

function appliedToSameValue(schema: JsonObject, targets: Targets, dialect: Dialect): JsonObject[] {
  const applied = [...targets.values()].filter(isObject);
  if (dialect.overridingRef && targets.size > 0) return applied;
  return [...applied, ...subschemas(schema, dialect, (keyword) => SAME_VALUE.has(keyword))];
}

/** Keywords whose schemas are applied to the same value as the enclosing schema. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  ...['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf'],
  ...['dependencies', 'dependentSchemas'],
]);

/** The direct subschemas of a schema; those that are true or false contain nothing and are omitted. */
function subschemas(
  schema: JsonObject,
  { ofSchemas, ofNamedSchemas }: Dialect,
  isWanted: (keyword: string) => boolean = () => true,
): JsonObject[] {
  return [
    ...ofSchemas.filter(isWanted).flatMap((keyword) => own(schema, keyword)),
    ...ofNamedSchemas.filter(isWanted).flatMap((keyword) => Object.values(objectOf(own(schema, keyword)))),
  ].filter(isObject);
}
