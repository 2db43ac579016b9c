import { CelDuration, CelTimestamp, Fault, type Value } from './values.js';

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970: the range of timestamps. */
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
/** Longest duration, of 10,000 years by the definition of google.protobuf.Duration. */
const MAX_DURATION = 315_576_000_000n * 1_000_000_000n;
const NANOS = 1_000_000_000n;

const NO_TIMESTAMP = new Fault('the text is no timestamp of RFC 3339, such as 2030-01-31T12:00:00Z');
const TIMESTAMP_RANGE = new Fault('the timestamp is not within the years 1 to 9999');
const NO_DURATION = new Fault('the text is no duration, such as 1h30m or -1.5s');
const TOO_FAR_APART = new Fault('the timestamps are more than 292 years apart');
const DURATION_RANGE = new Fault('the duration exceeds 10,000 years');

export function timestampValue(seconds: number, nanos: number): Value {
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? TIMESTAMP_RANGE : new CelTimestamp(seconds, nanos);
}

export function durationValue(nanos: bigint): Value {
  return nanos > MAX_DURATION || nanos < -MAX_DURATION ? DURATION_RANGE : new CelDuration(nanos);
}

/** The duration between two timestamps, which must be less than 2^63 nanoseconds: some 292 years. */
export function timeBetween(from: CelTimestamp, to: CelTimestamp): Value {
  const nanos = nanosOf(to) - nanosOf(from);
  return BigInt.asIntN(64, nanos) === nanos ? new CelDuration(nanos) : TOO_FAR_APART;
}

/** Nanoseconds since 1970. */
export function nanosOf({ seconds, nanos }: CelTimestamp): bigint {
  return BigInt(seconds) * NANOS + BigInt(nanos);
}

export function timestampOfNanos(total: bigint): Value {
  const nanos = ((total % NANOS) + NANOS) % NANOS;
  return timestampValue(Number((total - nanos) / NANOS), Number(nanos));
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const LONGEST_TIMESTAMP = 35;

/** Reads a timestamp in the notation of RFC 3339. */
export function readTimestamp(text: string): Value {
  const found = text.length > LONGEST_TIMESTAMP ? null : RFC_3339.exec(text);
  if (found === null) return NO_TIMESTAMP;
  const part = (index: number) => Number(found[index] ?? 0);
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(part) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59)
    return NO_TIMESTAMP;
  const offset = (part(9) * 60 + part(10)) * 60 * (found[8] === '-' ? -1 : 1);
  const seconds = date.getTime() / 1_000 + hour * 3_600 + minute * 60 + second - offset;
  return timestampValue(seconds, Number((found[7] ?? '').padEnd(9, '0')));
}

/** A timestamp in the notation of RFC 3339, in UTC, with the digits of the second that are not zero. */
export function timestampText({ seconds, nanos }: CelTimestamp): string {
  const date = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return `${date}${nanos === 0 ? '' : `.${fraction(nanos)}`}Z`;
}

function fraction(nanos: number): string {
  return String(nanos)
    .padStart(9, '0')
    .replace(/0{1,9}$/, '');
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3_600n * NANOS,
  m: 60n * NANOS,
  s: NANOS,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ns: 1n,
};
const DURATION_PART = /(\d{0,18})(?:\.(\d{0,18}))?(h|ms|m|s|us|µs|μs|ns)/y;
const LONGEST_DURATION = 128;

/** Reads a duration in the notation of Go: numbers with units, such as `1h30m`. */
export function readDuration(text: string): Value {
  if (text.length > LONGEST_DURATION) return NO_DURATION;
  const isNegative = text.startsWith('-');
  let at = isNegative || text.startsWith('+') ? 1 : 0;
  if (text.slice(at) === '0') return new CelDuration(0n);
  if (at === text.length) return NO_DURATION;
  let nanos = 0n;
  while (at < text.length) {
    DURATION_PART.lastIndex = at;
    const found = DURATION_PART.exec(text);
    const [all = '', whole = '', part = '', unit = ''] = found ?? [];
    if (found === null || (whole === '' && part === '')) return NO_DURATION;
    const unitNanos = UNIT_NANOS[unit] ?? 0n;
    nanos += BigInt(whole || '0') * unitNanos;
    if (part !== '') nanos += (BigInt(part) * unitNanos) / 10n ** BigInt(part.length);
    at += all.length;
  }
  return durationValue(isNegative ? -nanos : nanos);
}

/** A duration in seconds, such as `5400s` or `-0.5s`. */
export function durationText({ nanos }: CelDuration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const rest = Number(size % NANOS);
  return `${nanos < 0n ? '-' : ''}${size / NANOS}${rest === 0 ? '' : `.${fraction(rest)}`}s`;
}
