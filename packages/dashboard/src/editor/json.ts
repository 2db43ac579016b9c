import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, isSameJson } from '../schema-form/json-members.js';

export type { JsonObject, JsonValue };
export { isJsonObject, isSameJson };

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
