import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, isSameJson, withOwnMember } from '../code/json-members.js';

export type { JsonObject, JsonValue };
export { isJsonObject, isSameJson };

/** An own member of a JSON object. Undefined if the value is no object; null counts as absent. */
export function givenMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
  return value[name] ?? undefined;
}

/** A copy of an object, or of none, with one member set. Undefined removes the member. */
export function objectWith(
  value: JsonValue | undefined,
  name: string,
  member: JsonValue | undefined,
): JsonObject {
  return withOwnMember(isJsonObject(value) ? value : {}, name, member);
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list; other items are left out. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
