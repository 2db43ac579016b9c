import {
  areSameDigits,
  Decimal,
  type DecimalParts,
  isWhole,
  isWrittenOut,
  partsOf,
  textOfParts,
} from './decimal.js';
import { JsonNumberError } from './json-errors.js';
import { isContainer, type JsonValue } from './json-value.js';

/**
 * A number of JSON as represented in the service. A double stands for the shortest decimal number that parses
 * to it, which is what JavaScript prints; an integer beyond 2^53 is a bigint, unless it came as a double; a
 * number that fits neither is a Decimal.
 */
export type JsonNumber = number | bigint | Decimal;

/** Numbers closer to 0 than 10^-1000000 are rejected: no real quantity is that small. */
const MAX_LEADING_ZEROS = 1_000_000;

export function isNumber(value: JsonValue | undefined): value is JsonNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal;
}

/**
 * Parses a number with a fraction or an exponent, without losing a digit. Throws a JsonNumberError at
 * `offset` when it exceeds the range of a double, or has more than a million zeros between the point and the
 * first digit.
 */
export function readFractional(written: string, offset: number): JsonNumber {
  const number = Number(written);
  const parts = partsOf(written);
  if (!Number.isFinite(number) || parts.point < -MAX_LEADING_ZEROS) throw new JsonNumberError(offset);
  if (parts.digits === '' || areSameDigits(parts, partsOf(String(number)))) return number;
  return isWhole(parts) && isWrittenOut(parts) ? BigInt(textOfParts(parts)) : new Decimal(parts);
}

/** The double nearest to a number. */
export function doubleOf(value: JsonNumber): number {
  return value instanceof Decimal ? value.toNumber() : Number(value);
}

/** Whether a number is whole. */
export function isIntegral(value: JsonNumber): boolean {
  if (typeof value === 'number') return Number.isInteger(value);
  return typeof value === 'bigint' || value.isInteger;
}

/** A whole number as an integer; for a double, the integer that it prints. */
export function integerOf(value: JsonNumber): bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  const { negative, digits, point } = partsOf(value.toString());
  const size = BigInt(digits + '0'.repeat(point - digits.length));
  return negative ? -size : size;
}

/** Negative, 0 or positive as `left` is less than, equal to or greater than `right`. NaN equals nothing. */
export function compareNumbers(left: JsonNumber, right: JsonNumber): number {
  if (typeof left === 'number' && typeof right === 'number') {
    return left === right ? 0 : left < right ? -1 : left > right ? 1 : Number.NaN;
  }
  if (typeof left === 'bigint' && typeof right === 'bigint')
    return left === right ? 0 : left < right ? -1 : 1;
  if (!isFiniteNumber(left) || !isFiniteNumber(right)) return Number(left) - Number(right);
  const [one, other] = [partsOf(left.toString()), partsOf(right.toString())];
  if (one.negative !== other.negative) return one.negative ? -1 : 1;
  const size = compareSizes(one, other);
  return one.negative ? -size : size;
}

function isFiniteNumber(value: JsonNumber): boolean {
  return typeof value !== 'number' || Number.isFinite(value);
}

function compareSizes(left: DecimalParts, right: DecimalParts): number {
  // 0 has no digits, and is smaller than every other.
  if (left.digits === '' || right.digits === '') return left.digits.length - right.digits.length;
  if (left.point !== right.point) return left.point - right.point;
  return left.digits === right.digits ? 0 : left.digits < right.digits ? -1 : 1;
}

/** Whether `value` divided by `divisor` is whole, exactly: 0.3 and 19.99 are multiples of 0.01. */
export function isMultiple(value: JsonNumber, divisor: JsonNumber): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor))
    return Number(value) % Number(divisor) === 0;
  if (!isFiniteNumber(value) || !isFiniteNumber(divisor)) return false;
  const [one, other] = [partsOf(value.toString()), partsOf(divisor.toString())];
  const places = Math.max(one.digits.length - one.point, other.digits.length - other.point, 0);
  if (one.digits.length + other.digits.length + places > MAX_DIVIDED_DIGITS) {
    throw new Error(`a number has more than ${MAX_DIVIDED_DIGITS} digits`);
  }
  const scaled = scaledTo(other, places);
  return scaled !== 0n && scaledTo(one, places) % scaled === 0n;
}

/** Most digits of a number and its divisor: converting digits to an integer takes quadratic time. */
const MAX_DIVIDED_DIGITS = 10_000;

/** A number times ten to the power of `places`, which makes it whole. */
function scaledTo({ digits, point }: DecimalParts, places: number): bigint {
  return digits === '' ? 0n : BigInt(digits) * 10n ** BigInt(point - digits.length + places);
}

/**
 * Whether every number of a value is a double within the range of exact integers, so that other software
 * reads it unchanged.
 */
export function hasOnlyExactNumbers(value: JsonValue): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (!isContainer(value)) return typeof value !== 'bigint' && (typeof value !== 'object' || value === null);
  if (Array.isArray(value)) {
    for (const item of value) if (!hasOnlyExactNumbers(item)) return false;
    return true;
  }
  for (const key in value) if (!hasOnlyExactNumbers(value[key] as JsonValue)) return false;
  return true;
}

/**
 * Whether two JSON values are equal, ignoring the order of members and the form of numbers. Recursion is as
 * deep as the shallower value.
 */
export function jsonEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (!isContainer(a) || !isContainer(b)) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEqual(item, b[index] ?? null));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key] as JsonValue, b[key] as JsonValue));
}
