import { Decimal, isObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';

/** Cost of a value besides its text, in characters. */
const VALUE_SIZE = 8;

/**
 * Why a value cannot be passed to a custom evaluator, or undefined: it is larger than `limit` characters, or
 * has a number that a double cannot hold, so that the author's code would receive another.
 */
export function dataProblem(value: JsonValue, limit: number): string | undefined {
  const tooLarge = 'the data are too large for a custom evaluator';
  let left = limit;
  const waiting: JsonValue[] = [value];
  while (left >= 0) {
    const next = waiting.pop();
    if (next === undefined) return undefined;
    left -= VALUE_SIZE;
    if (typeof next === 'string') left -= next.length;
    else if (Array.isArray(next)) {
      // A longer list is too large whatever it contains, and need not be copied.
      if (next.length * VALUE_SIZE > left) return tooLarge;
      for (const item of next) waiting.push(item);
    } else if (isObject(next)) {
      for (const name of Object.keys(next)) {
        left -= name.length;
        waiting.push(next[name] as JsonValue);
      }
    } else if (next instanceof Decimal) {
      return 'the data have a number with more digits than custom evaluators can be given';
    }
  }
  return tooLarge;
}
