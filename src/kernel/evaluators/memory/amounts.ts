import type { z } from 'zod';
import { compareNumbers, isNumber, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { field, refuse, refuseTyped } from '../../../contract/input/fields.js';
import { compileSelector, isSelectorPath, type SelectorFn } from '../../core/selector.js';
import type { Step } from '../../core/types.js';
import { isStepPath, MAX_PATH_LENGTH } from './memory-key.js';

/** Largest amount. */
export const MAX_AMOUNT = 1e15;
/** Amounts are counted in integers of 10 to the power of -9. */
const DECIMALS = 9;
const ONE = 10n ** BigInt(DECIMALS);
/** Largest integer whose amount is a safe integer. */
const MAX_EXACT = Math.floor(Number.MAX_SAFE_INTEGER / 10 ** DECIMALS);

/** An amount as it is kept: an integer of 10^-9, as a number if it is safe, otherwise as text. */
export type KeptAmount = number | string;

export function keptAmount(amount: bigint): KeptAmount {
  return amount <= Number.MAX_SAFE_INTEGER ? Number(amount) : String(amount);
}

/** The nearest double, for replies. */
export function amountNumber(amount: bigint): number {
  if (amount === 0n) return 0;
  return Number(amount / ONE) + Number(amount % ONE) / Number(ONE);
}

/** The amount in decimal notation, for messages. */
export function amountText(amount: bigint): string {
  const rest = String(amount % ONE)
    .padStart(DECIMALS, '0')
    .replace(/0+$/, '');
  return `${amount / ONE}${rest === '' ? '' : `.${rest}`}`;
}

/**
 * A JSON number from 0 to MAX_AMOUNT as an amount, exact to nine decimals and rounded up beyond them, so that no sum of
 * small parts is free. Null for anything else.
 */
export function amountOf(value: JsonValue): bigint | null {
  // The usual case; the product is exact.
  if (typeof value === 'number' && value >= 0 && value <= MAX_EXACT && Number.isInteger(value)) {
    return BigInt(value * 10 ** DECIMALS);
  }
  if (!isNumber(value) || !(compareNumbers(value, 0) >= 0 && compareNumbers(value, MAX_AMOUNT) <= 0))
    return null;
  if (Number.isNaN(value)) return null;
  if (compareNumbers(value, 0) === 0) return 0n;
  const [significand = '', exponent = '0'] = value.toString().toLowerCase().split('e');
  const [whole = '', fraction = ''] = significand.split('.');
  const digits = whole + fraction;
  const zeros = Number(exponent) - fraction.length + DECIMALS;
  if (zeros >= 0) return BigInt(digits) * 10n ** BigInt(zeros);
  const end = Math.max(0, digits.length + zeros);
  const isExact = /^0*$/.test(digits.slice(end));
  return BigInt(digits.slice(0, end) || '0') + (isExact ? 0n : 1n);
}

/** Where an amount comes from: the same for every step, or the value at a path. */
export type AmountSource = { readonly constant: bigint } | { readonly path: string };

/** A member with an amount or the path of one. `beforeStep`: whether the path must be there before the step runs. */
export function amountSource(beforeStep: boolean): z.ZodType<AmountSource> {
  return field<AmountSource>(
    (value, sink) => {
      if (typeof value !== 'string') {
        const constant = amountOf(value);
        if (constant !== null) return { constant };
        const message = 'must be a number from 0 to 10^15, or the path of one, such as input.amount';
        return refuseTyped(sink, 'value_error', message, value);
      }
      if (value.length > MAX_PATH_LENGTH) {
        return refuse(sink, 'string_too_long', `must have at most ${MAX_PATH_LENGTH} characters`, value);
      }
      if (beforeStep ? isStepPath(value) : isSelectorPath(value) && !value.startsWith('*')) {
        return { path: value };
      }
      const roots = beforeStep
        ? 'input or context, because there is no output before the step runs; use settle for an amount in the output'
        : 'output, input or context';
      return refuseTyped(sink, 'value_error', `must be a number, or a path that begins with ${roots}`, value);
    },
    { type: ['number', 'string'], minimum: 0, maximum: MAX_AMOUNT, maxLength: MAX_PATH_LENGTH },
  );
}

/** A member with an amount. */
export function positiveAmount(): z.ZodType<bigint> {
  return field<bigint>(
    (value, sink) => {
      const amount = amountOf(value);
      if (amount !== null && amount > 0n) return amount;
      return refuseTyped(sink, 'value_error', 'must be a number above 0, and at most 10^15', value);
    },
    { type: 'number', exclusiveMinimum: 0, maximum: MAX_AMOUNT },
  );
}

/** Reads an amount of a step, or says why there is none. */
export type AmountReader = (step: Step) => bigint | { readonly problem: string };

export function amountReader(source: AmountSource): AmountReader {
  if ('constant' in source) return () => source.constant;
  const { path } = source;
  const read: SelectorFn = compileSelector(path);
  const missing = { problem: `${path} is missing, and the budget counts it` };
  const unusable = { problem: `${path} is no number from 0 to 10^15, and the budget counts it` };
  return (step) => {
    const value = read(step);
    return value === null ? missing : (amountOf(value) ?? unusable);
  };
}
