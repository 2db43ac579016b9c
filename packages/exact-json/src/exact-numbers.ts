import { isContainer, type JsonValue } from './json-value.js';

/**
 * Whether every number of a value is a double within the range of exact integers, so that other software
 * reads it unchanged.
 */
export function hasOnlyExactNumbers(value: JsonValue): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (!isContainer(value)) return typeof value !== 'bigint' && (typeof value !== 'object' || value === null);
  if (Array.isArray(value)) {
    for (const item of value) if (!hasOnlyExactNumbers(item)) return false;
    return true;
  }
  for (const key in value) if (!hasOnlyExactNumbers(value[key] as JsonValue)) return false;
  return true;
}
