import { areEqual, compareValues, isMap, mapValue } from './equality.js';
import type { Run } from './run.js';
import { define, type FunctionDefinition } from './signatures.js';
import { isIndex } from './string-functions.js';
import { Fault, type MapKey, mapKeyOf, type Value } from './values.js';

const OUT_OF_RANGE = new Fault('the index is out of range');
const UNSORTABLE = new Fault('the items of the list have no order among each other');
const NEGATIVE_DEPTH = new Fault('the depth is negative');

/** The extensions `lists` and `sets` of cel-go. */
export const LIST_FUNCTIONS: readonly FunctionDefinition[] = [
  define('list<T>.distinct(): list<T>', 'The items, each once.', (run, list) => {
    if (!isList(list)) return undefined;
    run.makeItems(list.length);
    const kept: Value[] = [];
    const has = createMembership(run, kept);
    for (const item of list) if (!has(item)) kept.push(item);
    return kept;
  }),
  define(
    ['list.flatten(): list', 'list.flatten(int): list'],
    'The items of the lists in the list, to a depth of 1 or as given.',
    (run, list, depth) => {
      if (!isList(list) || (depth !== undefined && !isIndex(depth))) return undefined;
      if (depth !== undefined && depth < 0) return NEGATIVE_DEPTH;
      const flat: Value[] = [];
      flatten(run, list, depth ?? 1, flat);
      return flat;
    },
  ),
  define(
    'list<T>.slice(int, int): list<T>',
    'The items from an index to before another.',
    (run, list, from, to) => {
      if (!isList(list) || !isIndex(from) || !isIndex(to)) return undefined;
      if (from < 0 || to > list.length || from > to) return OUT_OF_RANGE;
      run.makeItems(to - from);
      return list.slice(from, to);
    },
  ),
  define('list<T>.reverse(): list<T>', 'The items in reverse order.', (run, list) => {
    if (typeof list === 'string') return undefined;
    if (!isList(list)) return undefined;
    run.makeItems(list.length);
    return [...list].reverse();
  }),
  define(
    'list<T>.sort(): list<T>',
    'The items in ascending order: numbers, texts, bools, times.',
    (run, list) => {
      if (!isList(list)) return undefined;
      run.makeItems(list.length);
      let hasNoOrder = false;
      const sorted = [...list].sort((one, other) => {
        run.spend(2);
        const order = compareValues(run, one, other);
        if (order === undefined || Number.isNaN(order)) hasNoOrder = true;
        return order ?? 0;
      });
      return hasNoOrder ? UNSORTABLE : sorted;
    },
  ),
  define('lists::range(int): list', 'The whole numbers from 0 to before a number.', (run, count) => {
    if (!isIndex(count)) return undefined;
    run.makeItems(Math.max(count, 0));
    return Array.from({ length: Math.max(count, 0) }, (_, index) => index);
  }),
  define(
    'sets::contains(list, list): bool',
    'Whether the first list has each item of the second.',
    (run, one, other) => (isList(one) && isList(other) ? hasAll(run, one, other) : undefined),
  ),
  define(
    'sets::equivalent(list, list): bool',
    'Whether each list has each item of the other.',
    (run, one, other) =>
      isList(one) && isList(other) ? hasAll(run, one, other) && hasAll(run, other, one) : undefined,
  ),
  define(
    'sets::intersects(list, list): bool',
    'Whether the lists have an item in common.',
    (run, one, other) => {
      if (!isList(one) || !isList(other)) return undefined;
      const has = createMembership(run, other);
      return one.some((item) => has(item));
    },
  ),
];

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function hasAll(run: Run, list: readonly Value[], items: readonly Value[]): boolean {
  const has = createMembership(run, list);
  return items.every((item) => has(item));
}

/**
 * Whether a value is in a list, which may grow meanwhile. What can be the key of a map is looked up; all else is compared
 * with every item that cannot.
 */
function createMembership(run: Run, list: readonly Value[]): (item: Value) => boolean {
  const keys = new Set<MapKey>();
  const others: Value[] = [];
  let read = 0;
  return (item) => {
    for (; read < list.length; read += 1) {
      run.spend(2);
      const known = list[read] as Value;
      const key = mapKeyOf(known);
      if (typeof key === 'string') run.spend(key.length / 8);
      if (key === undefined) others.push(known);
      else keys.add(key);
    }
    run.spend(2);
    const key = mapKeyOf(item);
    if (key !== undefined) {
      if (typeof key === 'string') run.spend(key.length / 8);
      return keys.has(key);
    }
    for (const other of others) {
      run.spend(1);
      if (areEqual(run, item, other)) return true;
    }
    return false;
  };
}

function flatten(run: Run, list: readonly Value[], depth: number, flat: Value[]): void {
  run.makeItems(list.length);
  for (const item of list) {
    if (isList(item) && depth > 0) flatten(run, item, depth - 1, flat);
    else flat.push(item);
  }
}

/** Whether a list or map has a value or key; undefined for other containers. */
export function isIn(run: Run, item: Value, container: Value): boolean | undefined {
  if (isList(container)) {
    for (const known of container) {
      run.spend(1);
      if (areEqual(run, item, known)) return true;
    }
    return false;
  }
  if (!isMap(container)) return undefined;
  const key = mapKeyOf(item);
  return key !== undefined && hasKey(run, container, key);
}

function hasKey(run: Run, map: Value, key: MapKey): boolean {
  if (typeof key === 'string') run.spend(1 + key.length / 32);
  return mapValue(map, key) !== undefined;
}
