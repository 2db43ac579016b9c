import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, ownMember } from '../code/json-members.js';

/** Deepest nesting of `allOf` and references that is followed. What is deeper only constrains. */
const MAX_DEPTH = 16;

/**
 * A schema without `$ref` and `allOf`: what they add is merged into it. References lead into the root schema only.
 * A boolean schema, and a reference that leads nowhere or to itself, gives the schema that allows everything.
 */
export function resolveSchema(root: JsonObject, schema: JsonValue | undefined, depth = 0): JsonObject {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  let current = schema;
  const { $ref: reference, ...siblings } = current;
  if (typeof reference === 'string') {
    current = merged(resolveSchema(root, atReference(root, reference), depth + 1), siblings);
  }
  const { allOf: parts, ...rest } = current;
  if (!Array.isArray(parts)) return current;
  return merged(
    parts.reduce<JsonObject>((sum, part) => merged(sum, resolveSchema(root, part, depth + 1)), {}),
    rest,
  );
}

/** Both schemas in one. Where they contradict each other, the second one counts. */
export function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both: [string, JsonValue][] = Object.entries({ ...one, ...other });
  return Object.fromEntries(
    both.map(([name, value]) => {
      const first = ownMember(one, name);
      const second = ownMember(other, name);
      if (name === 'properties' && isJsonObject(first) && isJsonObject(second)) {
        return [name, mergedProperties(first, second)];
      }
      if (name === 'required' && Array.isArray(first) && Array.isArray(second)) {
        return [name, [...new Set([...first, ...second])]];
      }
      return [name, value];
    }),
  );
}

function mergedProperties(one: JsonObject, other: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(
    names.map((name) => {
      const first = ownMember(one, name);
      const second = ownMember(other, name);
      if (isJsonObject(first) && isJsonObject(second)) return [name, merged(first, second)];
      return [name, second ?? first ?? true];
    }),
  );
}

/** What a reference of a schema leads to; undefined if that is outside of the schema or does not exist. */
function atReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (reference.startsWith('#/')) return atPointer(root, reference.slice(2));
  return namedSchema(root, reference);
}

function atPointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const part of pointer.split('/')) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) current = current[Number(name)];
    else current = isJsonObject(current) ? ownMember(current, name) : undefined;
  }
  return current;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A definition with this `$id` or `$anchor`. */
function namedSchema(root: JsonObject, reference: string): JsonValue | undefined {
  for (const place of ['$defs', 'definitions']) {
    const definitions = ownMember(root, place);
    if (!isJsonObject(definitions)) continue;
    for (const definition of Object.values(definitions)) {
      if (!isJsonObject(definition)) continue;
      const { $id: id, $anchor: anchor } = definition;
      if (id === reference || (typeof anchor === 'string' && `#${anchor}` === reference)) return definition;
    }
  }
  return undefined;
}
