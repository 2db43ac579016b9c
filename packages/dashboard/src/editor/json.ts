import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

export type { JsonObject, JsonValue };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object. Undefined if the value is no object; null counts as absent. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
  return value[name] ?? undefined;
}

/** A copy with one member replaced in its place, or appended. Undefined removes it. */
export function withMember(
  value: JsonValue | undefined,
  name: string,
  member: JsonValue | undefined,
): JsonObject {
  const object = isJsonObject(value) ? value : {};
  if (member !== undefined) return { ...object, [name]: member };
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list; other items are left out. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Whether two JSON values are the same; the order of members does not matter. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}
