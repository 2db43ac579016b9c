import type { JsonValue } from './json-value.js';

/**
 * Compact JSON text of a value: the inverse of `parseJson`. A bigint is printed as its digits, which
 * `JSON.stringify` alone refuses to do. The depth of the value is bounded where it enters the service.
 */
export function stringifyJson(value: JsonValue): string {
  return hasBigint(value) ? stringifyWithBigints(value) : JSON.stringify(value);
}

function hasBigint(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (Array.isArray(value)) return value.some(hasBigint);
  for (const key in value) if (hasBigint(value[key] as JsonValue)) return true;
  return false;
}

function stringifyWithBigints(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyWithBigints).join(',')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${stringifyWithBigints(member)}`,
  );
  return `{${members.join(',')}}`;
}
