import { Decimal, partsOf, textOfParts } from './decimal.js';
import { isNumber } from './json-number.js';
import type { JsonValue } from './json-value.js';

/**
 * Compact JSON text of a value: the inverse of `parseJson`, up to the representation of equal numbers. A
 * bigint is printed as its digits and a Decimal as its text, both of which `JSON.stringify` rejects. NaN and
 * infinite numbers print as null, and -0 as 0.
 *
 * Recursion is as deep as the value: the depth is bounded on input.
 */
export function stringifyJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The value contains a bigint or a Decimal.
    return stringifyExactly(value);
  }
}

function stringifyExactly(value: JsonValue): string {
  if (typeof value === 'bigint' || value instanceof Decimal) return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyExactly).join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    // As in JSON.stringify: an undefined member is omitted.
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${stringifyExactly(member)}`);
  }
  return `{${members.join(',')}}`;
}

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
