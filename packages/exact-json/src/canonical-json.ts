import { partsOf, textOfParts } from './decimal.js';
import { isNumber } from './json-number.js';
import type { JsonValue } from './json-value.js';

/**
 * Canonical JSON text of a value: the same for equal values, whatever the order of their members and the form of their
 * numbers. It is that of RFC 8785 (JSON Canonicalization Scheme) for every value that RFC 8785 supports. Beyond it: a
 * number that no double holds is printed with all its digits in the same notation, and a lone surrogate is printed as
 * an escape, such as `\ud800`. A member whose value is undefined is omitted.
 *
 * Recursion is as deep as the value: the depth is bounded on input.
 */
export function canonicalJson(value: JsonValue): string {
  // Equal numbers have equal digits, and JavaScript prints the double among them in the same notation.
  if (isNumber(value)) return textOfParts(partsOf(value.toString()));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // By UTF-16 code units, as the comparison of strings does.
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
