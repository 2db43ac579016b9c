import {
  integerOf,
  isContainer,
  isIntegral,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from '../../exact-json/src/index.js';
import type { Work } from './work.js';

/** How JSON values are compared. */
export interface EqualityOptions {
  /** Whether true and false equal 1 and 0. JSON Schema distinguishes them. */
  readonly booleansAreNumbers?: boolean;
}

/** Units of work of a scalar other than a text. */
const SCALAR_UNITS = 4;
/** Units of work of a list or an object, besides its members. */
const STRUCTURE_UNITS = 8;

/**
 * A check whether a value equals one of the given values, in time linear in that value. 1 equals 1.0; the
 * order of members is ignored.
 */
export function createMembership(values: readonly JsonValue[], options: EqualityOptions = {}) {
  const keys = new Set(values.map((value) => equalityKey(value, options)));
  const hasStructures = values.some(isContainer);
  return (value: JsonValue, work: Work): boolean =>
    (hasStructures || !isContainer(value)) && keys.has(equalityKey(value, options, work));
}

/** Whether no two items are equal. */
export function areUnique(items: readonly JsonValue[], work: Work): boolean {
  const keys = new Set<string>();
  for (const item of items) keys.add(equalityKey(item, {}, work));
  return keys.size === items.length;
}

/**
 * A text that is the same for equal values and different for others. Never begins with a digit: the engine
 * hashes numbers, and texts that look like indexes, without a secret, so that callers could craft slow sets.
 */
function equalityKey(value: JsonValue, options: EqualityOptions, work?: Work): string {
  switch (typeof value) {
    case 'string':
      work?.read(value, 2);
      return `s${value}`;
    case 'boolean':
      work?.spend(SCALAR_UNITS);
      return options.booleansAreNumbers ? `n${Number(value)}` : `b${value}`;
    case 'number':
      work?.spend(SCALAR_UNITS);
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? numberKey(value) : `n${value}`;
    case 'bigint': {
      const key = numberKey(value);
      work?.read(key);
      return key;
    }
    default:
      if (value === null) return 'null';
      if (isContainer(value)) return structureKey(value, options, work);
      work?.read(value.toString(), 2);
      return numberKey(value);
  }
}

/**
 * Key of a number that is not a safe integer; the same for equal ones in any representation. Integers in
 * hexadecimal, which takes time linear in the digits; decimal takes quadratic time.
 */
function numberKey(value: JsonNumber): string {
  return isIntegral(value) ? `i${integerOf(value).toString(16)}` : `d${value}`;
}

function structureKey(
  value: JsonValue[] | JsonObject,
  options: EqualityOptions,
  work: Work | undefined,
): string {
  work?.spend(STRUCTURE_UNITS);
  const keyOf = (inner: JsonValue) => {
    const key = equalityKey(inner, options, work);
    // Texts are quoted, so that a text cannot imitate the boundary between two.
    return typeof inner === 'string' ? JSON.stringify(key) : key;
  };
  if (Array.isArray(value)) return `[${value.map(keyOf).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((name) => {
      work?.read(name, 4);
      work?.spend(1);
      return `${JSON.stringify(name)}:${keyOf(value[name] as JsonValue)}`;
    });
  return `{${members.join(',')}}`;
}
