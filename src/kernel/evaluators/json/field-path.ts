import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Work } from '../../../../packages/json-schema/src/index.js';

/** A dotted path into objects. A key with a dot is unreachable, an empty segment is the empty key. */
export interface FieldPath {
  readonly text: string;
  readonly keys: readonly string[];
}

/** Reads a dotted path. */
export function parseFieldPath(text: string): FieldPath {
  return { text, keys: text.split('.') };
}

/** Units of work for building the path of one leaf. */
const LEAF_UNITS = 3;

/** Value at a path; undefined when it does not resolve. Descends objects only, by own members. */
export function valueAt(document: JsonObject, path: FieldPath, work: Work): JsonValue | undefined {
  work.spend(path.keys.length);
  let value: JsonValue = document;
  for (const key of path.keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key] as JsonValue;
  }
  return value;
}

/** Calls `visit` with the path of each leaf: a value other than an object. An empty object has none. */
export function visitLeaves(document: JsonObject, work: Work, visit: (path: string) => void): void {
  const descend = (object: JsonObject, prefix: string) => {
    for (const [key, value] of Object.entries(object)) {
      const path = prefix + key;
      work.read(path, 2);
      work.spend(LEAF_UNITS);
      if (isObject(value)) descend(value, `${path}.`);
      else visit(path);
    }
  };
  descend(document, '');
}
