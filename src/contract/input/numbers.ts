import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  doubleOf,
  isIntegral,
  isNumber,
  type JsonObject,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import { field, type IssueSink, refuse, refuseTyped } from './fields.js';

/** Limits of a number. */
export interface NumberLimits {
  /** Exclusive. */
  readonly above?: number;
  readonly min?: number;
  readonly max?: number;
}

/** Accepted text forms of an integer: sign, leading zeros, `_` between digits, `.0`, blanks around. */
const INTEGER_TEXT = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;

/** An integer; also `5.0`, `"5"`, `" 5 "` and true. Beyond 2^53 inexact, but comparisons are correct. */
export function integer(limits: NumberLimits = {}): z.ZodType<number> {
  const shown = shownNumber('integer', limits);
  return field((value, sink) => {
    const read = readInteger(value, sink);
    return read === undefined ? z.NEVER : within(read, limits, value, sink);
  }, shown);
}

/** The id of a row, or the number of a version: any integer; one that is none, 0 or beyond 32 bits included, is not found. */
export const rowId = integer();

/** A revision, or a position in a log. */
export const position = integer({
  ...LIMITS.VerifyAuditRequest.after_position,
  max: Number.MAX_SAFE_INTEGER,
});

function readInteger(value: JsonValue, sink: IssueSink): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (isNumber(value)) {
    if (isIntegral(value)) return doubleOf(value);
    return refuseTyped(sink, 'int_from_float', 'must be a whole number', value);
  }
  if (typeof value === 'string') {
    const digits = value.trim();
    if (digits.length <= 4_300 && INTEGER_TEXT.test(digits)) return Number(digits.replaceAll('_', ''));
    return refuseTyped(sink, 'int_parsing', 'must be an integer', value);
  }
  return refuse(sink, 'int_type', 'must be an integer', value);
}

/** A number; also a numeric string and true or false. */
export function number(limits: NumberLimits = {}): z.ZodType<number> {
  const shown = shownNumber('number', limits);
  return field((value, sink) => {
    let read: number;
    if (isNumber(value)) read = doubleOf(value);
    else if (typeof value === 'boolean') read = Number(value);
    else if (typeof value === 'string') {
      read = value.trim() === '' ? Number.NaN : Number(value);
      if (Number.isNaN(read)) return refuseTyped(sink, 'float_parsing', 'must be a number', value);
    } else return refuse(sink, 'float_type', 'must be a number', value);
    return within(read, limits, value, sink);
  }, shown);
}

function shownNumber(type: 'integer' | 'number', { above, min, max }: NumberLimits): JsonObject {
  return {
    type,
    ...(above === undefined ? {} : { exclusiveMinimum: above }),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}

function within(read: number, limits: NumberLimits, value: JsonValue, sink: IssueSink): number {
  const { above, min, max } = limits;
  if (above !== undefined && !(read > above))
    return refuse(sink, 'greater_than', `must be greater than ${above}`, read);
  if (min !== undefined && read < min)
    return refuseTyped(sink, 'greater_than_equal', `must be at least ${min}`, value);
  if (max !== undefined && read > max)
    return refuseTyped(sink, 'less_than_equal', `must be at most ${max}`, value);
  return read;
}
