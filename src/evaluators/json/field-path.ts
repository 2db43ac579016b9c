import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.js';
import type { Work } from '../../json-schema/work.js';

/** A dotted path into objects. A key that holds a dot cannot be reached, an empty segment is the empty key. */
export interface FieldPath {
  readonly text: string;
  readonly keys: readonly string[];
}

/** Reads a dotted path. */
export function parseFieldPath(text: string): FieldPath {
  return { text, keys: text.split('.') };
}

/** Units of work of putting the path of one leaf together. */
const LEAF_UNITS = 3;

/** What a path leads to; undefined when it leads nowhere. Only objects are descended, by own members. */
export function valueAt(document: JsonObject, path: FieldPath, work: Work): JsonValue | undefined {
  work.spend(path.keys.length);
  let value: JsonValue = document;
  for (const key of path.keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key] as JsonValue;
  }
  return value;
}

/** Calls `visit` with the path of each leaf: what is no object. An empty object has none. */
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
