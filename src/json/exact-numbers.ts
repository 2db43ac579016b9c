import type { JsonValue } from './json-value.js';

/**
 * Whether every number of a value is within the range in which a double holds integers exactly. Then
 * `JSON.stringify` prints what is read back unchanged. False for a bigint.
 */
export function hasOnlyExactNumbers(value: JsonValue): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (Array.isArray(value)) {
    for (const item of value) if (!hasOnlyExactNumbers(item)) return false;
    return true;
  }
  for (const key in value) if (!hasOnlyExactNumbers(value[key] as JsonValue)) return false;
  return true;
}
