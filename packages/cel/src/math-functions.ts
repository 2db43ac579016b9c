import {
  compareNumeric,
  doubleOfValue,
  int64Of,
  intValue,
  isNumeric,
  NAN_ORDER,
  type NumberValue,
  OVERFLOW,
} from './numbers.js';
import type { Run } from './run.js';
import { define, type FunctionDefinition } from './signatures.js';
import { CelUint, doubleValue, Fault, kindOf, type Value } from './values.js';

const BITS = 64n;
const UINT_MASK = 2n ** 64n - 1n;
const NO_NUMBERS = new Fault('the list has no numbers');
const NEGATIVE_SHIFT = new Fault('a shift by a negative number of bits');

/** The functions of the extension `math` of cel-go. */
export const MATH_FUNCTIONS: readonly FunctionDefinition[] = [
  define(
    ['math::greatest(...number): number', 'math::greatest(list): number'],
    'The greatest of numbers, or of a list of them.',
    (run, numbers) => extreme(run, numbers, 1),
  ),
  define(
    ['math::least(...number): number', 'math::least(list): number'],
    'The least of numbers, or of a list of them.',
    (run, numbers) => extreme(run, numbers, -1),
  ),
  rounding('ceil', 'The least whole number that is not less.', Math.ceil),
  rounding('floor', 'The greatest whole number that is not greater.', Math.floor),
  rounding('round', 'The nearest whole number; halves away from zero.', (value) =>
    Math.abs(value) < 2 ** 52 ? Math.sign(value) * Math.floor(Math.abs(value) + 0.5) : value,
  ),
  rounding('trunc', 'The number without its fraction.', Math.trunc),
  define('math::abs(number): number', 'The number without its sign.', (_run, value) => {
    if (!isNumeric(value)) return undefined;
    if (value instanceof CelUint) return value;
    const whole = int64Of(value);
    if (whole !== null) return intValue(whole < 0n ? -whole : whole);
    return isDouble(value) ? doubleValue(Math.abs(doubleOfValue(value))) : OVERFLOW;
  }),
  define('math::sign(number): number', '-1, 0 or 1.', (_run, value) => {
    if (!isNumeric(value)) return undefined;
    const sign = Math.sign(doubleOfValue(value));
    if (value instanceof CelUint) return new CelUint(BigInt(sign));
    return isDouble(value) ? doubleValue(sign) : sign;
  }),
  testing('isNaN', 'Whether a double is not a number.', Number.isNaN),
  testing('isInf', 'Whether a double is infinite.', (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
  testing('isFinite', 'Whether a double is neither infinite nor NaN.', Number.isFinite),
  bitwise('bitAnd', 'The bits that both numbers have.', (one, other) => one & other),
  bitwise('bitOr', 'The bits that one of the numbers has.', (one, other) => one | other),
  bitwise('bitXor', 'The bits that only one of the numbers has.', (one, other) => one ^ other),
  define(['math::bitNot(int): int', 'math::bitNot(uint): uint'], 'All bits inverted.', (_run, value) => {
    if (value instanceof CelUint) return new CelUint(value.value ^ UINT_MASK);
    const whole = int64Of(value);
    return whole === null ? undefined : intValue(~whole);
  }),
  shift('bitShiftLeft', 'The bits moved to the left.', (bits, by) => bits << by),
  shift('bitShiftRight', 'The bits moved to the right; zeros come in.', (bits, by) => bits >> by),
];

function isDouble(value: Value): boolean {
  return kindOf(value) === 'double';
}

function extreme(run: Run, given: Value, sign: number): Value | undefined {
  if (!Array.isArray(given)) return undefined;
  const items: readonly Value[] = given.length === 1 && Array.isArray(given[0]) ? given[0] : given;
  run.spend(1 + items.length);
  let best: NumberValue | null = null;
  for (const item of items) {
    if (!isNumeric(item)) return undefined;
    const order = best === null ? 1 : compareNumeric(item, best) * sign;
    // With NaN, the result would depend on the order of the arguments.
    if (Number.isNaN(order) || Number.isNaN(doubleOfValue(item))) return NAN_ORDER;
    if (order > 0) best = item;
  }
  return best ?? NO_NUMBERS;
}

function rounding(name: string, documentation: string, round: (value: number) => number): FunctionDefinition {
  return define(`math::${name}(double): double`, documentation, (_run, value) => {
    if (!isNumeric(value) || value instanceof CelUint) return undefined;
    // A whole number of JSON is its own result: it has no kind, and `1.0` is 1 there.
    return isDouble(value) ? doubleValue(round(doubleOfValue(value))) : value;
  });
}

function testing(name: string, documentation: string, test: (value: number) => boolean): FunctionDefinition {
  return define(`math::${name}(double): bool`, documentation, (_run, value) => {
    if (!isNumeric(value) || value instanceof CelUint) return undefined;
    return test(doubleOfValue(value));
  });
}

function bitwise(
  name: string,
  documentation: string,
  compute: (one: bigint, other: bigint) => bigint,
): FunctionDefinition {
  const signatures = [`math::${name}(int, int): int`, `math::${name}(uint, uint): uint`];
  return define(signatures, documentation, (_run, one, other) => {
    if (one instanceof CelUint && other instanceof CelUint)
      return new CelUint(compute(one.value, other.value));
    const [left, right] = [int64Of(one), int64Of(other)];
    return left === null || right === null ? undefined : intValue(compute(left, right));
  });
}

function shift(
  name: string,
  documentation: string,
  compute: (bits: bigint, by: bigint) => bigint,
): FunctionDefinition {
  const signatures = [`math::${name}(int, int): int`, `math::${name}(uint, int): uint`];
  return define(signatures, documentation, (_run, value, by) => {
    const count = int64Of(by);
    if (count === null) return undefined;
    if (count < 0n) return NEGATIVE_SHIFT;
    const shifted = (bits: bigint) =>
      count >= BITS ? 0n : BigInt.asUintN(64, compute(BigInt.asUintN(64, bits), count));
    if (value instanceof CelUint) return new CelUint(shifted(value.value));
    const whole = int64Of(value);
    return whole === null ? undefined : intValue(BigInt.asIntN(64, shifted(whole)));
  });
}
