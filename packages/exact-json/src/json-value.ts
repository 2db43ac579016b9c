import { Decimal } from './decimal.js';

/**
 * A JSON value as represented in the service. Numbers are never silently changed: an integer beyond 2^53 is a
 * bigint, a number that a double cannot represent as written is a Decimal, and every other is a number
 * (`json-number.ts`).
 */
export type JsonValue = null | boolean | number | bigint | Decimal | string | JsonValue[] | JsonObject;

/** A JSON object. Only its own properties count: keys such as `__proto__` are ordinary data. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a JSON value is an object, neither null nor a list. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

/** Whether a JSON value is an object or a list. */
export function isContainer(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null && !(value instanceof Decimal);
}
