import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';

/** Why a value cannot be checked against a schema. The message completes "the schema …". */
export class SchemaWorkError extends Error {}

/**
 * Target of a reference in a schema. Throws a SchemaWorkError when it leaves the schema or does not resolve.
 * Members that change the target of references, `$id` above all, are not supported here: such schemas are
 * rejected before.
 */
export function resolveReference(root: JsonObject, reference: string): JsonValue {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) {
    throw new SchemaWorkError('refers to something outside itself; only # and #/… are supported');
  }
  // An encoded percent sign could be decoded once here and twice by the compiler, with another target.
  if (reference.includes('%25')) throw new SchemaWorkError('has a reference with an encoded percent sign');
  let found: JsonValue | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const name = decodePart(part);
    if (Array.isArray(found)) found = /^\d+$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) ? own(found, name) : undefined;
    if (found === undefined) throw new SchemaWorkError(`refers to ${reference}, which is not there`);
  }
  return found;
}

/** An own member; undefined when there is none. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new SchemaWorkError('has a reference that cannot be decoded');
  }
}
