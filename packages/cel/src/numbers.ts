import { compareNumbers, Decimal, integerOf, type JsonNumber } from '../../exact-json/src/index.js';
import { CelDouble, CelUint, doubleValue, Fault, plainInt, type Value } from './values.js';

/** A number of any kind. */
export type NumberValue = number | bigint | Decimal | CelDouble | CelUint;

/**
 * NaN is neither less than a limit nor above it: with the false of IEEE 754, a step with the amount "NaN" would pass a check
 * of "more than". The specification of CEL leaves open what happens.
 */
export const NAN_ORDER = new Fault('NaN has no order');
export const OVERFLOW = new Fault('the integer exceeds 64 bits (overflow)');
const DIVISION_BY_ZERO = new Fault('division by zero');
const MODULUS_BY_ZERO = new Fault('modulus by zero');
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
/** Doubles from here on are beyond every 64 bit integer. */
const BEYOND_INT = 2 ** 63;

export function isNumeric(value: Value | undefined): value is NumberValue {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof CelDouble ||
    value instanceof Decimal ||
    value instanceof CelUint
  );
}

/** A signed integer within 64 bits, as a bigint; null for another number. */
export function int64Of(value: Value | undefined): bigint | null {
  if (typeof value === 'number') {
    return Number.isInteger(value) && Math.abs(value) < BEYOND_INT ? inRange(integerOf(value)) : null;
  }
  if (typeof value === 'bigint') return inRange(value);
  if (value instanceof Decimal && value.isInteger && Math.abs(value.toNumber()) < BEYOND_INT) {
    return inRange(integerOf(value));
  }
  return null;
}

function inRange(value: bigint): bigint | null {
  return value >= MIN_INT && value <= MAX_INT ? value : null;
}

/** An integer as a value, or the fault of an overflow. */
export function intValue(value: bigint): Value {
  return value >= MIN_INT && value <= MAX_INT ? plainInt(value) : OVERFLOW;
}

export function uintValue(value: bigint): Value {
  return value >= 0n && value <= MAX_UINT ? new CelUint(value) : OVERFLOW;
}

/** Whether a value is an integer of JSON or of CEL, of any size. */
export function isIntValue(value: Value | undefined): value is number | bigint | Decimal {
  if (typeof value === 'number') return Number.isInteger(value);
  return typeof value === 'bigint' || (value instanceof Decimal && value.isInteger);
}

/** The nearest double of a number. */
export function doubleOfValue(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof Decimal) return value.toNumber();
  return Number(typeof value === 'bigint' ? value : value.value);
}

/**
 * Negative, 0, positive, or NaN if one of them is. Exact: an integer of 64 bits or more is never rounded to a double, nor
 * is a Decimal.
 */
export function compareNumeric(one: NumberValue, other: NumberValue): number {
  const [left, right] = [doubleOfValue(one), doubleOfValue(other)];
  // Rounding to doubles keeps the order: only numbers with the same double need be compared by their digits.
  if (left < right) return -1;
  if (left > right) return 1;
  if (left !== right) return Number.NaN;
  return isDouble(one) && isDouble(other) ? 0 : compareNumbers(exact(one), exact(other));
}

function isDouble(value: NumberValue): boolean {
  return typeof value === 'number' || value instanceof CelDouble;
}

function exact(value: NumberValue): JsonNumber {
  if (value instanceof CelUint) return value.value;
  if (!(value instanceof CelDouble)) return value;
  return Number.isSafeInteger(value.value) || !Number.isFinite(value.value)
    ? value.value
    : BigInt(value.value);
}

export type Arithmetic = '_+_' | '_-_' | '_*_' | '_/_' | '_%_';

/**
 * The result of an operator on numbers; undefined if it takes no such kinds. Integers are exact within 64 bits. An integer
 * with a double is computed as doubles: a number of JSON has no kind of its own.
 */
export function arithmetic(operator: Arithmetic, one: NumberValue, other: NumberValue): Value | undefined {
  if (Number.isSafeInteger(one) && Number.isSafeInteger(other)) {
    const result = smallResult(operator, one as number, other as number);
    if (Number.isSafeInteger(result)) return result + 0;
  }
  if (one instanceof CelUint || other instanceof CelUint) {
    if (!(one instanceof CelUint && other instanceof CelUint)) return undefined;
    const result = integerResult(operator, one.value, other.value);
    return typeof result === 'bigint' ? uintValue(result) : result;
  }
  if (isIntValue(one) && isIntValue(other)) {
    const [left, right] = [int64Of(one), int64Of(other)];
    if (left === null || right === null) return OVERFLOW;
    const result = integerResult(operator, left, right);
    return typeof result === 'bigint' ? intValue(result) : result;
  }
  const [left, right] = [doubleOfValue(one), doubleOfValue(other)];
  switch (operator) {
    case '_+_':
      return doubleValue(left + right);
    case '_-_':
      return doubleValue(left - right);
    case '_*_':
      return doubleValue(left * right);
    case '_/_':
      return doubleValue(left / right);
    case '_%_':
      return undefined;
  }
}

/** The result of an operator on integers that doubles hold; beyond them, or of a division by 0, no safe integer. */
function smallResult(operator: Arithmetic, left: number, right: number): number {
  switch (operator) {
    case '_+_':
      return left + right;
    case '_-_':
      return left - right;
    case '_*_':
      return left * right;
    case '_/_':
      return Math.trunc(left / right);
    case '_%_':
      return left % right;
  }
}

function integerResult(operator: Arithmetic, left: bigint, right: bigint): bigint | Fault {
  switch (operator) {
    case '_+_':
      return left + right;
    case '_-_':
      return left - right;
    case '_*_':
      return left * right;
    case '_/_':
      return right === 0n ? DIVISION_BY_ZERO : left / right;
    case '_%_':
      return right === 0n ? MODULUS_BY_ZERO : left % right;
  }
}

/** The number with the opposite sign; undefined for what has none. */
export function negate(value: Value): Value | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : -value;
    if (!Number.isInteger(value)) return doubleValue(-value);
  }
  if (value instanceof CelDouble) return new CelDouble(-value.value);
  if (isIntValue(value)) {
    const whole = int64Of(value);
    return whole === null ? OVERFLOW : intValue(-whole);
  }
  return value instanceof Decimal ? doubleValue(-value.toNumber()) : undefined;
}

/** A number as a text, in decimal notation. */
export function numberText(value: NumberValue): string {
  if (value instanceof CelUint) return String(value.value);
  const plain = value instanceof CelDouble ? value.value : value;
  if (plain === Number.POSITIVE_INFINITY) return '+Inf';
  return plain === Number.NEGATIVE_INFINITY ? '-Inf' : String(plain);
}
