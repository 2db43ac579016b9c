/** Units of calendar windows. */
export const CALENDAR_UNITS = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** A calendar window: from `fromUs` to just before `toUs`, in microseconds since 1970. */
export interface CalendarWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const US_PER_MS = 1_000;
/** Longest window, with the hour by which the clocks of a zone may change, in microseconds. */
export const LONGEST_WINDOW_US: Readonly<Record<CalendarUnit, number>> = {
  minute: MINUTE_MS * US_PER_MS,
  hour: HOUR_MS * US_PER_MS,
  day: 26 * HOUR_MS * US_PER_MS,
  week: (7 * DAY_MS + 2 * HOUR_MS) * US_PER_MS,
  month: (31 * DAY_MS + 2 * HOUR_MS) * US_PER_MS,
};

/** Whether a text names a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the window that a time is in, by the calendar (Gregorian; weeks begin on Monday, as in ISO 8601) and the clocks of a
 * time zone. A day begins at its first moment, which is not midnight where clocks are set forward at midnight.
 */
export function createCalendar(unit: CalendarUnit, timeZone: string): (nowUs: number) => CalendarWindow {
  const localMs = localClock(timeZone);
  let last: CalendarWindow = { fromUs: 0, toUs: 0 };
  return (nowUs) => {
    // Steps of one window follow each other.
    if (nowUs >= last.fromUs && nowUs < last.toUs) return last;
    const nowMs = Math.floor(nowUs / US_PER_MS);
    const local = localMs(nowMs);
    if (unit === 'minute' || unit === 'hour') {
      const length = unit === 'minute' ? MINUTE_MS : HOUR_MS;
      const fromMs = nowMs - (((local % length) + length) % length);
      last = { fromUs: fromMs * US_PER_MS, toUs: (fromMs + length) * US_PER_MS };
    } else {
      const [from, to] = localDays(unit, local);
      last = { fromUs: firstMoment(from, localMs) * US_PER_MS, toUs: firstMoment(to, localMs) * US_PER_MS };
    }
    return last;
  };
}

/** Midnights, as if local times were of UTC, at which the day, week or month of a local time begins and ends. */
function localDays(unit: 'day' | 'week' | 'month', local: number): [number, number] {
  const day = Math.floor(local / DAY_MS) * DAY_MS;
  if (unit === 'day') return [day, day + DAY_MS];
  const date = new Date(day);
  if (unit === 'month') {
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
  }
  const monday = day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return [monday, monday + 7 * DAY_MS];
}

/** The first moment whose local time is `local` or later, in milliseconds since 1970. */
function firstMoment(local: number, localMs: (ms: number) => number): number {
  // Offsets are less than a day, and zones change theirs at most once in two days.
  const before = localMs(local - DAY_MS) - (local - DAY_MS);
  const after = localMs(local + DAY_MS) - (local + DAY_MS);
  const moments = [local - before, local - after].filter((ms) => localMs(ms) === local);
  // Midnight is left out where clocks are set forward over it: the day then begins at the change.
  return moments.length > 0 ? Math.min(...moments) : local - before;
}

/** Local times of a zone as milliseconds, as if they were of UTC. */
function localClock(timeZone: string): (ms: number) => number {
  if (timeZone === 'UTC') return (ms) => ms;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (ms) => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(ms)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1_000) + 1_000) % 1_000);
  };
}
