import type { JsonObject, JsonValue } from '../json/json-value.js';
import { stringifyJson } from '../json/stringify-json.js';
import type { Step } from './types.js';

/** The service accepts data of at most this depth. */
const MAX_DEPTH = 200;

const UTF8 = new TextEncoder();

/** The step as UTF-8 JSON text. Throws a TypeError with the member that JSON cannot represent. */
export function stepJson(step: Step): Uint8Array<ArrayBuffer> {
  const { type = 'tool', name, input, output, context } = step;
  return UTF8.encode(
    stringifyJson({
      type,
      name,
      input: jsonOf(input, 'input') ?? null,
      ...(output === undefined ? {} : { output: jsonOf(output, 'output') ?? null }),
      ...(context === undefined ? {} : { context: jsonOf(context, 'context') ?? null }),
    }),
  );
}

/**
 * The JSON form of a value, as by JSON.stringify; undefined where there is none. Bigints stay. A Map, a
 * Promise, a Response and the like would become an empty object, which hides their content from controls:
 * they are rejected.
 */
function jsonOf(value: unknown, path: string, depth = 0): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return value;
    case 'object':
      return value === null ? null : jsonOfObject(value, path, depth);
    default:
      return undefined;
  }
}

function jsonOfObject(value: object, path: string, depth: number): JsonValue | undefined {
  if (depth >= MAX_DEPTH) throw new TypeError(`${path} is nested deeper than ${MAX_DEPTH} levels`);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return jsonOf(value.toJSON(), path, depth + 1);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => jsonOf(item, `${path}[${index}]`, depth + 1) ?? null);
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  const members: [string, JsonValue][] = [];
  for (const [key, member] of Object.entries(value)) {
    const json = jsonOf(member, `${path}.${key}`, depth + 1);
    if (json !== undefined) members.push([key, json]);
  }
  if (members.length === 0 && !isPlainObject(value)) {
    throw new TypeError(
      `${path} is an object of a class of which JSON shows nothing; give plain data instead`,
    );
  }
  // Unlike assignments this creates a member for "__proto__", too.
  return Object.fromEntries(members) as JsonObject;
}

/** Whether a value is an object that a literal could have made. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a frame, a vm context) have another Object.prototype, with none above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
