import { hasOnlyExactNumbers } from './exact-numbers.js';
import type { JsonValue } from './json-value.js';

/**
 * Compact JSON text of a value: the inverse of `parseJson`. A bigint is printed as its digits, which
 * `JSON.stringify` alone refuses to do, and a number beyond 2^53 with an exponent, so that it is not read back as
 * an integer that it may not be. NaN and infinite numbers print as null, and -0 as the 0 it equals.
 *
 * Recursion is as deep as the value: the depth is bounded where a value enters the service.
 */
export function stringifyJson(value: JsonValue): string {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    // There is a bigint in it.
    return stringifyExactly(value);
  }
  // `JSON.stringify` prints numbers from 10^21 on with an exponent itself. Nearly no text has as many digits in a row
  // as those between it and 2^53.
  return !LONG_DIGITS.test(text) || hasOnlyExactNumbers(value) ? text : stringifyExactly(value);
}

const LONG_DIGITS = /[0-9]{16}/;

function stringifyExactly(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') {
    const exact = Math.abs(value) <= Number.MAX_SAFE_INTEGER || !Number.isFinite(value);
    return exact ? JSON.stringify(value) : value.toExponential();
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyExactly).join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    // As in JSON.stringify: a member that is undefined is no member.
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${stringifyExactly(member)}`);
  }
  return `{${members.join(',')}}`;
}
