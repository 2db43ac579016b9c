import { countDigits } from './equality.js';
import { cidrText, ipText } from './network-text.js';
import {
  doubleOfValue,
  int64Of,
  intValue,
  isIntValue,
  isNumeric,
  numberText,
  OVERFLOW,
  uintValue,
} from './numbers.js';
import type { Run } from './run.js';
import { define, type FunctionDefinition } from './signatures.js';
import { durationText, readDuration, readTimestamp, timestampText, timestampValue } from './time-text.js';
import {
  CelBytes,
  CelCidr,
  CelDuration,
  CelIp,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  doubleValue,
  Fault,
  kindOf,
  TYPE_NAMES,
  type Value,
} from './values.js';

const NO_INTEGER = new Fault('the text is no integer');
const NO_NUMBER = new Fault('the text is no number');
const NO_BOOL = new Fault('the text is neither true nor false');
const NO_UTF8 = new Fault('the bytes are no UTF-8');
const INTEGER = /^[+-]?\d{1,20}$/;
const DOUBLE = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,6})?$/;
const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'true', 'T', 'TRUE', 'True'].map((text): [string, boolean] => [text, true]),
  ...['0', 'f', 'false', 'F', 'FALSE', 'False'].map((text): [string, boolean] => [text, false]),
]);
const SPECIAL_DOUBLES: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['+Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['Inf', Number.POSITIVE_INFINITY],
  ['-Inf', Number.NEGATIVE_INFINITY],
]);

/** Conversions, by the specification of CEL. */
export const CONVERSIONS: readonly FunctionDefinition[] = [
  define(
    [
      'int(int): int',
      'int(number): int',
      'int(uint): int',
      'int(double): int',
      'int(string): int',
      'int(timestamp): int',
    ],
    'The value as a whole number; of a timestamp, its seconds since 1970.',
    (_run, value) => {
      if (value instanceof CelTimestamp) return value.seconds;
      if (typeof value === 'string')
        return INTEGER.test(value) ? intValue(BigInt(value.replace('+', ''))) : NO_INTEGER;
      if (value instanceof CelUint) return intValue(value.value);
      if (!isNumeric(value)) return undefined;
      if (isIntValue(value)) return int64Of(value) === null ? OVERFLOW : value;
      return integerOfDouble(doubleOfValue(value), intValue, -(2 ** 63));
    },
  ),
  define(
    ['uint(uint): uint', 'uint(number): uint', 'uint(int): uint', 'uint(double): uint', 'uint(string): uint'],
    'The value as a whole number that is not negative.',
    (_run, value) => {
      if (value instanceof CelUint) return value;
      if (typeof value === 'string') {
        return INTEGER.test(value) && !value.startsWith('-')
          ? uintValue(BigInt(value.replace('+', '')))
          : NO_INTEGER;
      }
      if (!isNumeric(value)) return undefined;
      if (typeof value === 'bigint') return uintValue(value);
      if (isIntValue(value)) {
        const whole = int64Of(value);
        return whole === null ? OVERFLOW : uintValue(whole);
      }
      return integerOfDouble(doubleOfValue(value), uintValue, -1);
    },
  ),
  define(
    ['double(number): double', 'double(uint): double', 'double(string): double'],
    'The value as a double.',
    (run, value) => {
      if (typeof value === 'string') {
        run.read(value);
        const special = SPECIAL_DOUBLES.get(value);
        if (special !== undefined) return special;
        return DOUBLE.test(value) ? doubleValue(Number(value)) : NO_NUMBER;
      }
      return isNumeric(value) ? doubleValue(doubleOfValue(value)) : undefined;
    },
  ),
  define('bool(any): bool', 'A bool, or the text true or false as one.', (_run, value) => {
    if (typeof value === 'boolean') return value;
    return typeof value === 'string' ? (BOOLS.get(value) ?? NO_BOOL) : undefined;
  }),
  define(
    'string(any): string',
    'The value as a text: of a bool, number, time, address, or bytes of UTF-8.',
    textOfValue,
  ),
  define(['bytes(string): bytes', 'bytes(bytes): bytes'], 'The UTF-8 of a text.', (run, value) => {
    if (value instanceof CelBytes) return value;
    if (typeof value !== 'string') return undefined;
    run.makeText(value.length * 3);
    return new CelBytes(new TextEncoder().encode(value));
  }),
  define(
    ['timestamp(string): timestamp', 'timestamp(int): timestamp', 'timestamp(timestamp): timestamp'],
    'A moment from a text of RFC 3339, or from seconds since 1970.',
    (_run, value) => {
      if (value instanceof CelTimestamp) return value;
      if (typeof value === 'string') return readTimestamp(value);
      const whole = int64Of(value);
      return whole === null ? undefined : timestampValue(Number(whole), 0);
    },
  ),
  define(
    ['duration(string): duration', 'duration(duration): duration'],
    'A span of time, such as duration("1h30m").',
    (_run, value) => {
      if (value instanceof CelDuration) return value;
      return typeof value === 'string' ? readDuration(value) : undefined;
    },
  ),
  define(
    'type(any): type',
    'The type of a value.',
    (_run, value) => new CelTypeValue(TYPE_NAMES[kindOf(value)]),
  ),
  define('dyn(any): any', 'The value; its type is not checked before evaluation.', (_run, value) => value),
];

/** A double without its fraction, as an integer; out of range from 2^63 or 2^64 on. */
function integerOfDouble(value: number, make: (whole: bigint) => Value, least: number): Value {
  if (!Number.isFinite(value) || value <= least || value >= 2 ** 64) return OVERFLOW;
  return make(BigInt(Math.trunc(value)));
}

function textOfValue(run: Run, value: Value): Value | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  countDigits(run, value);
  if (isNumeric(value)) return numberText(value);
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelIp) return ipText(value);
  if (value instanceof CelCidr) return cidrText(value);
  if (!(value instanceof CelBytes)) return undefined;
  run.makeText(value.bytes.length);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value.bytes);
  } catch {
    return NO_UTF8;
  }
}
