import type { Run } from './run.js';
import { define, type FunctionDefinition } from './signatures.js';
import { CelDuration, CelTimestamp, Fault, type Value } from './values.js';

const NO_ZONE = new Fault('the text is no time zone, such as +01:00 or Europe/Berlin');
const FIXED_ZONE = /^([+-]?)(\d\d):(\d\d)$/;
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,60}$/;
/** Most formats of time zones that are kept: making one takes some 50 µs. */
const MAX_ZONES = 50;
/** Work of making and of using one, in steps. */
const ZONE_WORK = 8_000;
const ZONE_USE = 400;
const DAY = 86_400_000;

/** The members of a moment in a time zone; those of the specification of CEL. */
export const TIME_FUNCTIONS: readonly FunctionDefinition[] = [
  getter('getFullYear', 'The year.', (date) => date.getUTCFullYear()),
  getter('getMonth', 'The month from 0 for January.', (date) => date.getUTCMonth()),
  getter('getDate', 'The day of the month from 1.', (date) => date.getUTCDate()),
  getter('getDayOfMonth', 'The day of the month from 0.', (date) => date.getUTCDate() - 1),
  getter('getDayOfWeek', 'The day of the week from 0 for Sunday.', (date) => date.getUTCDay()),
  getter('getDayOfYear', 'The day of the year from 0.', (date) => {
    const first = new Date(date);
    first.setUTCMonth(0, 1);
    return Math.round((date.getTime() - first.getTime()) / DAY);
  }),
  getter(
    'getHours',
    'The hour of the day; the hours of a duration.',
    (date) => date.getUTCHours(),
    3_600_000_000_000n,
  ),
  getter(
    'getMinutes',
    'The minute; the minutes of a duration.',
    (date) => date.getUTCMinutes(),
    60_000_000_000n,
  ),
  getter(
    'getSeconds',
    'The second; the seconds of a duration.',
    (date) => date.getUTCSeconds(),
    1_000_000_000n,
  ),
  define(
    [
      'timestamp.getMilliseconds(): int',
      'timestamp.getMilliseconds(string): int',
      'duration.getMilliseconds(): int',
    ],
    'The milliseconds within the second.',
    (run, time, zone) => {
      if (time instanceof CelDuration)
        return zone === undefined ? Number((time.nanos / 1_000_000n) % 1_000n) : undefined;
      const date = localDate(run, time, zone);
      if (!(date instanceof Date)) return date;
      return time instanceof CelTimestamp ? Math.floor(time.nanos / 1e6) : undefined;
    },
  ),
];

/** @param unit nanoseconds of which a duration gives the number; without it durations have no such member */
function getter(
  name: string,
  documentation: string,
  read: (date: Date) => number,
  unit?: bigint,
): FunctionDefinition {
  const signatures = [`timestamp.${name}(): int`, `timestamp.${name}(string): int`];
  if (unit !== undefined) signatures.push(`duration.${name}(): int`);
  return define(signatures, documentation, (run, time, zone) => {
    if (time instanceof CelDuration) {
      return unit === undefined || zone !== undefined ? undefined : Number(time.nanos / unit);
    }
    const date = localDate(run, time, zone);
    return date instanceof Date ? read(date) : date;
  });
}

/** A moment as a date whose members in UTC are those in the zone. */
function localDate(run: Run, time: Value, zone: Value | undefined): Date | Fault | undefined {
  if (!(time instanceof CelTimestamp)) return undefined;
  run.spend(4);
  const ms = time.seconds * 1_000;
  if (zone === undefined) return new Date(ms);
  if (typeof zone !== 'string') return undefined;
  const fixed = zone.length > 6 ? null : FIXED_ZONE.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return new Date(ms + minutes * 60_000 * (fixed[1] === '-' ? -1 : 1));
  }
  const format = ZONE_NAME.test(zone.slice(0, 64)) && zone.length <= 61 ? zoneFormat(run, zone) : null;
  if (format === null) return NO_ZONE;
  run.spend(ZONE_USE);
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const local = new Date(0);
  local.setUTCFullYear(parts.get('year') ?? 0, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1);
  local.setUTCHours(parts.get('hour') ?? 0, parts.get('minute') ?? 0, parts.get('second') ?? 0);
  return local;
}

const formats = new Map<string, Intl.DateTimeFormat | null>();

function zoneFormat(run: Run, zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  run.spend(ZONE_WORK);
  let format: Intl.DateTimeFormat | null = null;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // The runtime knows no such zone.
  }
  if (formats.size >= MAX_ZONES) formats.clear();
  formats.set(zone, format);
  return format;
}
