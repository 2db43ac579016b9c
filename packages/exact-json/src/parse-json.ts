import { decodeJsonText } from './decode-text.js';
import { duplicateNames, hasDuplicateNames } from './duplicate-names.js';
import { checkTextDepth, MAX_JSON_DEPTH, MAX_STORED_JSON_DEPTH } from './json-depth.js';
import { JsonDuplicateError, withoutStack } from './json-errors.js';
import { checkSize } from './json-size.js';
import type { JsonValue } from './json-value.js';
import { parseLosslessly } from './lossless-parser.js';
import { mayLoseDigits } from './number-scan.js';

/** Members that occur more than once in an object: the text is refused, or the last one counts. */
export type DuplicateMembers = 'refuse' | 'last';

/** Limits of a JSON text. */
export interface ParseJsonOptions {
  /** Deepest accepted nesting; MAX_JSON_DEPTH when absent. */
  readonly maxDepth?: number;
  /** Whether more than MAX_JSON_VALUES values and names are accepted; false when absent. */
  readonly anySize?: boolean;
  /** `last` when absent. */
  readonly duplicates?: DuplicateMembers;
}

/**
 * Parses one JSON text, the same way for every transport. Bytes may be UTF-8, UTF-16 or UTF-32, with or
 * without a byte order mark; a string is used unchanged. `__proto__` is an ordinary key, integers beyond 2^53 become
 * bigints, numbers that no double holds become Decimals, and `NaN` and `Infinity` become null.
 *
 * Throws a JsonSyntaxError, a JsonTooDeepError, a JsonTooLargeError, a JsonDuplicateError, a JsonNumberError on a
 * number beyond the range of a double, or a JsonUndecodableError when the bytes are not text, nest in the ten thousands
 * or hold an integer of more than 4,300 digits. Never anything else.
 */
export function parseJson(input: Uint8Array | string, options: ParseJsonOptions = {}): JsonValue {
  const text = typeof input === 'string' ? input : decodeJsonText(input);
  const maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
  checkTextDepth(text, maxDepth);
  if (options.anySize !== true) checkSize(text);
  const value = parseText(text, maxDepth);
  if (options.duplicates === 'refuse' && hasDuplicateNames(text, value)) {
    throw withoutStack(() => new JsonDuplicateError(duplicateNames(text, 1)[0]?.path ?? []));
  }
  return value;
}

function parseText(text: string, maxDepth: number): JsonValue {
  if (mayLoseDigits(text)) return parseLosslessly(text, maxDepth);
  try {
    return withoutStack(() => JSON.parse(text) as JsonValue);
  } catch {
    // It reports the position, and accepts words that are not JSON.
    return withoutStack(() => parseLosslessly(text, maxDepth));
  }
}

/**
 * Parses JSON text stored by the service: like `parseJson`, but slightly deeper, so that free-form JSON
 * accepted at its full depth and size can be read back with its enclosing members.
 */
export function parseStoredJson(text: string): JsonValue {
  return parseJson(text, { maxDepth: MAX_STORED_JSON_DEPTH, anySize: true });
}
