import type { JsonValue } from '../../../../packages/exact-json/src/index.js';

/** The time of an event. */
export interface EventTime {
  /** Microseconds since 1970; a time without a zone counts as UTC. */
  readonly us: bigint;
  /** As displayed: in the original offset, or without any. */
  readonly text: string;
}

const US_PER_SECOND = 1_000_000n;
const US_PER_MINUTE = 60n * US_PER_SECOND;
/** An epoch number further from 1970 than this is in milliseconds, not seconds. */
const LARGEST_SECONDS = 20_000_000_000;
/** Longest text that is parsed: no time needs more, with any precision. */
const MAX_TEXT_LENGTH = 64;

const EPOCH_TEXT = /^([+-]?)(\d+)(?:\.(\d*))?$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?$/;

const MS_PER_400_YEARS = 146_097 * 86_400_000;
const FIRST_US = microsOfDate(1, 1, 1);
const LAST_US = microsOfDate(9999, 12, 31) + 86_400n * US_PER_SECOND - 1n;

/**
 * Parses RFC 3339, an ISO time without a zone, a date alone, or seconds or milliseconds since 1970 as number
 * or text. Digits beyond microseconds are cut. Undefined when it is not a time, or outside of the years 1 to
 * 9999.
 */
export function readTime(value: JsonValue): EventTime | undefined {
  if (typeof value === 'number') return fromEpochNumber(value);
  // A bigint exceeds 2^53, and no millisecond of these years does.
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) return undefined;
  const text = value.trim();
  const epoch = EPOCH_TEXT.exec(text);
  if (epoch !== null) return fromEpochText(epoch);
  const date = DATE.exec(text);
  if (date !== null) return fromDate(date);
  const dateTime = DATE_TIME.exec(text);
  return dateTime === null ? undefined : fromDateTime(dateTime);
}

/** A moment in UTC. */
export function utcTime(us: bigint): EventTime {
  return { us, text: `${wallClock(us)}Z` };
}

/** A moment in UTC, given in milliseconds. */
export function utcTimeOfMs(ms: number): EventTime {
  return utcTime(BigInt(ms) * 1_000n);
}

function fromEpochNumber(value: number): EventTime | undefined {
  const scale = Math.abs(value) > LARGEST_SECONDS ? 1_000 : 1_000_000;
  const us = Math.round(value * scale);
  return Number.isFinite(us) ? withinYears(BigInt(us)) : undefined;
}

function fromEpochText([, sign = '', whole = '', fraction = '']: readonly string[]): EventTime | undefined {
  const digits = Number(whole) > LARGEST_SECONDS ? 3 : 6;
  const us = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return withinYears(sign === '-' ? -us : us);
}

function withinYears(us: bigint): EventTime | undefined {
  return us < FIRST_US || us > LAST_US ? undefined : utcTime(us);
}

function fromDate([, year, month, day]: readonly string[]): EventTime | undefined {
  const us = dateMicros(Number(year), Number(month), Number(day));
  return us === undefined ? undefined : { us, text: `${year}-${month}-${day}T00:00:00` };
}

function fromDateTime(parts: readonly (string | undefined)[]): EventTime | undefined {
  const [, year, month, day, hour, minute, second = '00', fraction = '', zulu, sign, offHour, offMinute] =
    parts;
  const date = dateMicros(Number(year), Number(month), Number(day));
  if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const micros = fraction.slice(0, 6).padEnd(6, '0');
  const inDay = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000_000 + Number(micros);
  const us = date + BigInt(inDay);
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${micros === '000000' ? '' : `.${micros}`}`;
  if (zulu !== undefined) return { us, text: `${text}Z` };
  if (sign === undefined) return { us, text };
  if (Number(offHour) > 23 || Number(offMinute) > 59) return undefined;
  const minutes = BigInt(Number(offHour) * 60 + Number(offMinute));
  if (minutes === 0n) return { us, text: `${text}Z` };
  const offset = sign === '-' ? -minutes : minutes;
  return { us: us - offset * US_PER_MINUTE, text: `${text}${sign}${offHour}:${offMinute}` };
}

/** Midnight of a date in UTC; undefined for an invalid date. */
function dateMicros(year: number, month: number, day: number): bigint | undefined {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  if (day > 28 && day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()) return undefined;
  return microsOfDate(year, month, day);
}

function microsOfDate(year: number, month: number, day: number): bigint {
  // Date.UTC reads the years 0 to 99 as those of the 20th century; the calendar repeats after 400 years.
  const ms = Date.UTC(year + 400, month - 1, day) - MS_PER_400_YEARS;
  return BigInt(ms) * 1_000n;
}

/** Date and time of day in UTC, with six digits of a second unless they are all zero. */
function wallClock(us: bigint): string {
  const fraction = ((us % US_PER_SECOND) + US_PER_SECOND) % US_PER_SECOND;
  const seconds = new Date(Number((us - fraction) / 1_000n)).toISOString().slice(0, 19);
  return fraction === 0n ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`;
}
