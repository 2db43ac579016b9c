import type { Step } from './types.js';

/** The service accepts data of at most this depth. */
const MAX_DEPTH = 200;

const UTF8 = new TextEncoder();

/** The step as UTF-8 JSON text. Throws a TypeError with the member that JSON cannot represent. */
export function stepJson(step: Step): Uint8Array<ArrayBuffer> {
  const { type = 'tool', name, input, output, context } = step;
  const members = [
    member('type', JSON.stringify(type)),
    member('name', JSON.stringify(name)),
    member('input', textOf(input, 'input') ?? 'null'),
  ];
  if (output !== undefined) members.push(member('output', textOf(output, 'output') ?? 'null'));
  if (context !== undefined) members.push(member('context', textOf(context, 'context') ?? 'null'));
  return UTF8.encode(`{${members.join(',')}}`);
}

const member = (name: string, text: string): string => `${JSON.stringify(name)}:${text}`;

/**
 * The JSON text of a value, as by JSON.stringify, but a bigint prints as its digits; undefined where there is
 * none. A Map, a Promise, a Response and the like would become an empty object, which hides their content from
 * controls: they are rejected.
 */
function textOf(value: unknown, path: string, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return JSON.stringify(value);
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? 'null' : textOfObject(value, path, depth);
    default:
      return undefined;
  }
}

function textOfObject(value: object, path: string, depth: number): string | undefined {
  if (depth >= MAX_DEPTH) throw new TypeError(`${path} is nested deeper than ${MAX_DEPTH} levels`);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return textOf(value.toJSON(), path, depth + 1);
  }
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => textOf(item, `${path}[${index}]`, depth + 1) ?? 'null');
    return `[${items.join(',')}]`;
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean)
    return JSON.stringify(value.valueOf());
  const members: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const text = textOf(item, `${path}.${key}`, depth + 1);
    if (text !== undefined) members.push(member(key, text));
  }
  if (members.length === 0 && !isPlainObject(value)) {
    throw new TypeError(
      `${path} is an object of a class of which JSON shows nothing; give plain data instead`,
    );
  }
  return `{${members.join(',')}}`;
}

/** Whether a value is an object that a literal could have made. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a frame, a vm context) have another Object.prototype, with none above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
