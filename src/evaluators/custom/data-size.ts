import type { JsonValue } from '../../json/json-value.js';

/** What a value costs beside its text, in characters. */
const VALUE_SIZE = 8;

/** Whether a value is larger than `limit` characters. Stops looking where it is. */
export function isLargerThan(value: JsonValue, limit: number): boolean {
  let left = limit;
  const waiting: JsonValue[] = [value];
  while (left >= 0) {
    const next = waiting.pop();
    if (next === undefined) return false;
    left -= VALUE_SIZE;
    if (typeof next === 'string') left -= next.length;
    else if (Array.isArray(next)) {
      // A longer list is too large whatever is in it, and need not be copied.
      if (next.length * VALUE_SIZE > left) return true;
      for (const item of next) waiting.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const name of Object.keys(next)) {
        left -= name.length;
        waiting.push(next[name] as JsonValue);
      }
    }
  }
  return true;
}
