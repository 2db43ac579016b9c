import { Decimal } from '../../exact-json/src/index.js';
import type { Step } from './types.js';

/** JSON with numbers of any size and precision. */
type Json = null | boolean | number | bigint | Decimal | string | Json[] | { [key: string]: Json };

/** The service accepts data of at most this depth. */
export const MAX_DEPTH = 200;
/** Longest path in the error for data that are nested too deeply, in UTF-16 code units. */
const MAX_SHOWN_PATH = 60;

const UTF8 = new TextEncoder();

/** The step as UTF-8 JSON text. Throws a TypeError with the member that JSON cannot represent. */
export function stepJson(step: Step): Uint8Array<ArrayBuffer> {
  if (typeof step !== 'object' || step === null) throw new TypeError('step is missing: give { name, input }');
  const { type = 'tool', name, input, output, context } = step;
  if (typeof name !== 'string') throw new TypeError('step.name must be a text');
  return UTF8.encode(
    jsonText({
      type,
      name,
      input: jsonOf(input, 'input') ?? null,
      ...(output === undefined ? {} : { output: jsonOf(output, 'output') ?? null }),
      ...(context === undefined ? {} : { context: jsonOf(context, 'context') ?? null }),
    }),
  );
}

/** The JSON form of a value; undefined for undefined. Throws a TypeError with the member that JSON cannot represent. */
export function jsonForm(value: unknown, path: string): Json | undefined {
  return jsonOf(value, path);
}

/**
 * The JSON form of a value, as by JSON.stringify; undefined where there is none. Bigints stay. A Map, a
 * Promise, a Response and the like would become an empty object, bytes a list of numbers, and functions and symbols
 * nothing, which hides their content from controls: they are rejected.
 */
function jsonOf(value: unknown, path: string, depth = 0): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return value;
    case 'object':
      return value === null ? null : jsonOfObject(value, path, depth);
    case 'undefined':
      return undefined;
    default:
      throw new TypeError(`${path} is a ${typeof value}; give plain data instead`);
  }
}

function jsonOfObject(value: object, path: string, depth: number): Json | undefined {
  if (value instanceof Decimal) return value;
  if (depth >= MAX_DEPTH) {
    const place = `${path.slice(0, MAX_SHOWN_PATH)}…`;
    throw new TypeError(`${place} is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    throw new TypeError(`${path} holds bytes, which controls cannot read; give their text instead`);
  }
  if (Symbol.asyncIterator in value) {
    throw new TypeError(`${path} is a stream, which controls cannot read; give its whole content instead`);
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return jsonOf(value.toJSON(), path, depth + 1);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => jsonOf(item, `${path}[${index}]`, depth + 1) ?? null);
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  const members: [string, Json][] = [];
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
  return Object.fromEntries(members);
}

/** The JSON text of a value; a bigint, which JSON.stringify rejects, prints as its digits. */
export function jsonText(value: Json | undefined): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return exactText(value ?? null);
  }
}

function exactText(value: Json): string {
  if (typeof value === 'bigint' || value instanceof Decimal) return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`;
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${exactText(item)}`);
  return `{${members.join(',')}}`;
}

/** Whether a value is an object that a literal could have made. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a frame, a vm context) have another Object.prototype, with none above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
