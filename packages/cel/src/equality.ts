import { Decimal } from '../../exact-json/src/index.js';
import { compareNumeric, isNumeric } from './numbers.js';
import type { Run } from './run.js';
import {
  Boxed,
  CelBytes,
  CelCidr,
  CelDuration,
  CelIp,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  isJsonObject,
  type MapKey,
  mapKeyOf,
  type Value,
} from './values.js';

/** Characters below which comparing texts costs as much as anything. */
const SHORT = 64;

/**
 * Whether values are equal. Values of different kinds are not, except numbers; NaN equals nothing. Counts the texts and
 * items that it compares.
 */
export function areEqual(run: Run, one: Value, other: Value): boolean {
  if (typeof one === 'string') {
    if (typeof other !== 'string' || one.length !== other.length) return false;
    if (one.length > SHORT) run.spend(one.length / SHORT);
    return one === other;
  }
  if (typeof one === 'number' && typeof other === 'number') return one === other;
  if (isNumeric(one)) {
    if (!isNumeric(other)) return false;
    countDigits(run, one);
    countDigits(run, other);
    return compareNumeric(one, other) === 0;
  }
  if (one === null || typeof one === 'boolean') return one === other;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index += 1) {
      run.spend(1);
      if (!areEqual(run, one[index] as Value, other[index] as Value)) return false;
    }
    return true;
  }
  if (isMap(one)) return isMap(other) && areEqualMaps(run, one, other);
  return one instanceof Boxed && other instanceof Boxed && areEqualBoxes(one, other);
}

/** Work of computing with an integer beyond exact doubles, whose digits are at most 309. */
const LARGE_INTEGER_WORK = 100;

/** Counts reading the digits of a number that a double does not hold. */
export function countDigits(run: Run, value: Value): void {
  if (typeof value === 'bigint' || (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)) {
    run.spend(LARGE_INTEGER_WORK);
  } else if (value instanceof Decimal) {
    run.spend(LARGE_INTEGER_WORK + value.toString().length);
  } else if (value instanceof Boxed) {
    run.spend(BOXED_WORK);
  }
}

/** Work of computing with an integer or double that is boxed. */
const BOXED_WORK = 8;
/** Work of listing a member: of an object with many, all must be listed before they can be counted. */
const KEY_WORK = 8;
/** Work of finding a member by its name, in an object with many. */
const LOOKUP_WORK = 10;

export function isMap(value: Value): value is CelMap | ReturnType<typeof jsonObject> {
  return value instanceof CelMap || isJsonObject(value);
}

function jsonObject(value: Value) {
  return isJsonObject(value) ? value : {};
}

/** Number of members. */
export function mapSize(run: Run, map: Value): number {
  if (map instanceof CelMap) return map.entries.size;
  const { length } = Object.keys(jsonObject(map));
  run.spend(length * KEY_WORK);
  return length;
}

/** The value of a key; undefined without it. */
export function mapValue(map: Value, key: MapKey): Value | undefined {
  if (map instanceof CelMap) return map.entries.get(key)?.[1];
  const object = jsonObject(map);
  return typeof key === 'string' && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The keys, as values. */
export function mapKeys(run: Run, map: Value): readonly Value[] {
  if (map instanceof CelMap) {
    run.spend(map.entries.size);
    return [...map.entries.values()].map(([key]) => key);
  }
  const keys = Object.keys(jsonObject(map));
  run.spend(keys.length * KEY_WORK);
  return keys;
}

function areEqualMaps(run: Run, one: Value, other: Value): boolean {
  const keys = mapKeys(run, one);
  if (keys.length !== mapSize(run, other)) return false;
  for (const key of keys) {
    run.spend(2 * LOOKUP_WORK);
    const normal = mapKeyOf(key) as MapKey;
    const found = mapValue(other, normal);
    if (found === undefined || !areEqual(run, mapValue(one, normal) as Value, found)) return false;
  }
  return true;
}

function areEqualBoxes(one: Boxed, other: Boxed): boolean {
  if (one instanceof CelTimestamp) {
    return other instanceof CelTimestamp && one.seconds === other.seconds && one.nanos === other.nanos;
  }
  if (one instanceof CelDuration) return other instanceof CelDuration && one.nanos === other.nanos;
  if (one instanceof CelBytes) return other instanceof CelBytes && compareBytes(one, other) === 0;
  if (one instanceof CelTypeValue) return other instanceof CelTypeValue && one.name === other.name;
  if (one instanceof CelIp) return other instanceof CelIp && isSameIp(one, other);
  if (one instanceof CelCidr) {
    return other instanceof CelCidr && one.prefix === other.prefix && isSameIp(one.ip, other.ip);
  }
  return false;
}

function isSameIp(one: CelIp, other: CelIp): boolean {
  return one.family === other.family && one.bits === other.bits;
}

/** Negative, 0 or positive, byte by byte. */
export function compareBytes({ bytes: one }: CelBytes, { bytes: other }: CelBytes): number {
  const shared = Math.min(one.length, other.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Negative, 0, positive; NaN with NaN; undefined for values that have no order. */
export function compareValues(run: Run, one: Value, other: Value): number | undefined {
  if (typeof one === 'string' && typeof other === 'string') {
    run.spend(1 + Math.min(one.length, other.length) / 16);
    return compareTexts(one, other);
  }
  if (isNumeric(one) && isNumeric(other)) {
    countDigits(run, one);
    countDigits(run, other);
    return compareNumeric(one, other);
  }
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof CelTimestamp && other instanceof CelTimestamp) {
    return one.seconds - other.seconds || one.nanos - other.nanos;
  }
  if (one instanceof CelDuration && other instanceof CelDuration) {
    return one.nanos < other.nanos ? -1 : one.nanos > other.nanos ? 1 : 0;
  }
  if (one instanceof CelBytes && other instanceof CelBytes) return compareBytes(one, other);
  return undefined;
}

/** By code points: code units order characters beyond U+FFFF before some below. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  const shared = Math.min(one.length, other.length);
  let index = 0;
  while (index < shared && one.charCodeAt(index) === other.charCodeAt(index)) index += 1;
  if (index === shared) return one.length - other.length;
  const [left, right] = [one.charCodeAt(index), other.charCodeAt(index)];
  const isSplit = left >= 0xd800 && right >= 0xd800;
  return isSplit ? rank(left) - rank(right) : left - right;
}

/** Surrogates order after all other code units. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x2000 : unit + 0x2000;
}
