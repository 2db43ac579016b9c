import { decodeJsonText } from './decode-text.js';
import { checkTextDepth, MAX_JSON_DEPTH, MAX_STORED_JSON_DEPTH } from './json-depth.js';
import { withoutStack } from './json-errors.js';
import { checkSize } from './json-size.js';
import type { JsonValue } from './json-value.js';
import { parseLosslessly } from './lossless-parser.js';
import { mayLoseDigits } from './number-scan.js';

/** How much a JSON text may ask for. */
export interface ParseJsonOptions {
  /** Deepest nesting that is taken; MAX_JSON_DEPTH when absent. */
  readonly maxDepth?: number;
  /** Whether more than MAX_JSON_VALUES values and names are taken; false when absent. */
  readonly anySize?: boolean;
}

/**
 * Reads one JSON text, the same way on every lane. Bytes may be UTF-8, UTF-16 or UTF-32, with or without a byte
 * order mark; a string is taken as it is. Of duplicate keys the last wins, `__proto__` is an ordinary key, integers
 * beyond 2^53 become bigints, what a double does not hold becomes a Decimal, and `NaN` and `Infinity` read as null.
 *
 * Throws a JsonSyntaxError, a JsonTooDeepError, a JsonTooLargeError, a JsonNumberError on a number larger than a
 * double can be, or a JsonUndecodableError when the bytes are not text, nest in the ten thousands or hold an integer of more than
 * 4,300 digits. Never anything else.
 */
export function parseJson(input: Uint8Array | string, options: ParseJsonOptions = {}): JsonValue {
  const text = typeof input === 'string' ? input : decodeJsonText(input);
  const maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
  checkTextDepth(text, maxDepth);
  if (options.anySize !== true) checkSize(text);
  if (mayLoseDigits(text)) return parseLosslessly(text, maxDepth);
  try {
    return withoutStack(() => JSON.parse(text) as JsonValue);
  } catch {
    // It says where the mistake is, and knows words that are no JSON.
    return withoutStack(() => parseLosslessly(text, maxDepth));
  }
}

/**
 * Reads JSON text that the service stored: as `parseJson`, but a little deeper, so that free-form JSON which was
 * taken at its full depth and size can be read back with the members around it.
 */
export function parseStoredJson(text: string): JsonValue {
  return parseJson(text, { maxDepth: MAX_STORED_JSON_DEPTH, anySize: true });
}
