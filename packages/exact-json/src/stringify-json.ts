import { Decimal } from './decimal.js';
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
