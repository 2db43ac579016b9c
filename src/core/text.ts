import type { JsonValue } from '../json/json-value.js';
import { stringifyJson } from '../json/stringify-json.js';

/**
 * The text that `regex` and `list` look at: strings as they are, everything else as compact JSON, integers of any
 * size with all their digits.
 */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
