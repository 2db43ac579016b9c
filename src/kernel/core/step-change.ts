import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { PatchOperation } from './lift.js';
import type { Step } from './step.js';

/** The keys of a path of a change: first a member of the step. */
export type ChangeKeys = readonly [root: 'input' | 'output' | 'context', ...keys: string[]];

/** The keys of a path, which was checked when the definition was read. */
export function changeKeys(path: string): ChangeKeys {
  return path.split('.') as [string, ...string[]] as ChangeKeys;
}

/** What a path leads to; undefined when it leads nowhere. As selectors, it leads through objects only. */
export function dataAt(step: Step, [root, ...keys]: ChangeKeys): JsonValue | undefined {
  let value: JsonValue = step[root] ?? null;
  for (const key of keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key] ?? null;
  }
  return keys.length === 0 && value === null ? undefined : value;
}

/**
 * A step with other data at a path; undefined removes the member. Unchanged if the path leads nowhere. All other parts are the
 * same objects.
 */
export function withDataAt(step: Step, keys: ChangeKeys, data: JsonValue | undefined): Step {
  const before = dataAt(step, keys);
  if (before === undefined || before === data) return step;
  const [root, ...rest] = keys;
  return { ...step, [root]: replaced(step[root], rest, data) };
}

function replaced(value: JsonValue, keys: readonly string[], data: JsonValue | undefined): JsonValue {
  const [key, ...rest] = keys;
  if (key === undefined || !isObject(value)) return data ?? null;
  const isRemoved = rest.length === 0 && data === undefined;
  // Not by assignment: a member named __proto__ is data.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !(isRemoved && name === key))
      .map(([name, member]) => [name, name === key ? replaced(member, rest, data) : member]),
  );
}

/** The data with other strings: names, numbers and everything else are kept. What does not change is the same object. */
export function mapStrings(
  data: JsonValue,
  map: (text: string, keys: readonly string[]) => string,
  keys: readonly string[],
): JsonValue {
  if (typeof data === 'string') return map(data, keys);
  if (Array.isArray(data)) {
    const items = data.map((item, index) => mapStrings(item, map, [...keys, String(index)]));
    return items.every((item, index) => item === data[index]) ? data : items;
  }
  if (!isObject(data)) return data;
  const members = Object.entries(data).map(([name, member]): [string, JsonValue] => [
    name,
    mapStrings(member, map, [...keys, name]),
  ]);
  const isSame = members.every(([name, member]) => member === data[name]);
  return isSame ? data : (Object.fromEntries(members) as JsonObject);
}

/** The members of a step that can be changed. */
const CHANGEABLE = ['input', 'output', 'context'] as const;

/** The operations of JSON Patch that make one step of another. Parts that are the same object are equal. */
export function patchBetween(before: Step, after: Step): PatchOperation[] {
  const patch: PatchOperation[] = [];
  for (const member of CHANGEABLE) compare(before[member], after[member], `/${member}`, patch);
  return patch;
}

function compare(before: JsonValue, after: JsonValue, path: string, patch: PatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries())
      compare(item, after[index] ?? null, `${path}/${index}`, patch);
  } else if (isObject(before) && isObject(after)) {
    for (const [name, value] of Object.entries(before)) {
      const at = `${path}/${escaped(name)}`;
      if (Object.hasOwn(after, name)) compare(value, after[name] ?? null, at, patch);
      else patch.push({ op: 'remove', path: at });
    }
  } else patch.push({ op: 'replace', path, value: after });
}

/** A member name as a token of JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
