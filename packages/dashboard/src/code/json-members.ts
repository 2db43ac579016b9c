import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** Whether a value is a JSON object: no list, and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own member of an object: names such as `constructor` are ordinary ones. */
export function ownMember(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The object with one member set; without it if the value is undefined. Other members keep their order. */
export function withOwnMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const isThere = Object.hasOwn(object, name);
  if (value === undefined) return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
  if (!isThere) return Object.fromEntries([...Object.entries(object), [name, value]]);
  return Object.fromEntries(Object.entries(object).map(([key, old]) => [key, key === name ? value : old]));
}

/** The object with a member under another name, at the same place; null if that name is taken. */
export function withRenamed(object: JsonObject, from: string, to: string): JsonObject | null {
  if (from === to) return object;
  if (Object.hasOwn(object, to)) return null;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

/** The list with another item in the place of one. */
export function withItem(
  list: readonly JsonValue[],
  index: number,
  value: JsonValue | undefined,
): JsonValue[] {
  // An item cannot be absent.
  return list.map((old, at) => (at === index ? (value ?? null) : old));
}

/** The list without one item. */
export function withoutItem<T>(list: readonly T[], index: number): T[] {
  return list.filter((_, at) => at !== index);
}

/** The list with other items in the place of one. */
export function withItemsAt<T>(list: readonly T[], index: number, items: readonly T[]): T[] {
  return [...list.slice(0, index), ...items, ...list.slice(index + 1)];
}

/** The list with an item moved; unchanged if the place does not exist. */
export function withMoved<T>(list: readonly T[], from: number, to: number): T[] {
  const item = list[from];
  if (item === undefined || to < 0 || to >= list.length) return [...list];
  const others = withoutItem(list, from);
  return [...others.slice(0, to), item, ...others.slice(to)];
}

/** Whether two JSON values are the same, regardless of the order of members. */
export function isSameJson(one: unknown, other: unknown): boolean {
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
