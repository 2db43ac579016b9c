/**
 * A JSON value as the service holds it. An integer beyond 2^53 is a bigint, so that it is never silently changed;
 * every other number is a number.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. Only its own properties count: keys such as `__proto__` are ordinary data. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a JSON value is an object, not null and not a list. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
