import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Step } from './types.js';

/** What a value without a text takes about. */
const VALUE_LENGTH = 8;

/** About how many characters the data of a step have in memory, without printing them: to bound what waits. */
export function stepLength({ type, name, input, output, context }: Step): number {
  return type.length + name.length + lengthOf(input) + lengthOf(output) + lengthOf(context);
}

function lengthOf(value: JsonValue): number {
  if (typeof value === 'string') return VALUE_LENGTH + value.length;
  let length = VALUE_LENGTH;
  if (Array.isArray(value)) for (const item of value) length += lengthOf(item);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) length += name.length + lengthOf(member);
  }
  return length;
}
