import { rangeMs, TIME_RANGES } from '../time-range.js';

/**
 * A range of times as a text: `24h`, the 24 hours that end now; `FROM/TO` with two times in UTC, of which one can be
 * missing; or nothing, any time.
 */
export type Range = string;

/** A range between two times, of which one can be missing, in milliseconds since 1970. */
export interface FixedRange {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

const MINUTE_MS = 60_000;
/** Most days that statistics count at once. */
export const MAX_STATISTICS_DAYS = 366;
const DAY_MS = 86_400_000;

/** The range with a beginning and an end. */
export function fixedRange(fromMs: number | undefined, toMs: number | undefined): Range {
  const text = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString());
  return `${text(fromMs)}/${text(toMs)}`;
}

/** The times of a range that has them; undefined for one that ends now, and for any time. */
export function fixedTimes(range: Range): FixedRange | undefined {
  if (!range.includes('/')) return undefined;
  const [from = '', to = ''] = range.split('/');
  return { fromMs: readTime(from), toMs: readTime(to) };
}

/** The range of an address: `range=24h`, or `from` and `to`. `since`, in minutes, is in addresses of earlier versions. */
export function rangeOfAddress(parameters: URLSearchParams): Range | undefined {
  const from = readTime(parameters.get('from') ?? '');
  const to = readTime(parameters.get('to') ?? '');
  const range = parameters.get('range') ?? '';
  if (rangeMs(range) !== undefined) return range;
  if (from !== undefined || to !== undefined) return fixedRange(from, to);
  const since = `${parameters.get('since') ?? ''}m`;
  return rangeMs(since) === undefined ? undefined : since;
}

/** Why the range of an address cannot be read; undefined if it can, or if there is none. */
export function rangeProblem(parameters: URLSearchParams): string | undefined {
  for (const name of ['from', 'to']) {
    const text = parameters.get(name) ?? '';
    if (text !== '' && readTime(text) === undefined && !VERSION.test(text)) {
      return `The address has “${text}” as ${name}, which is no time. Possible is for example 2026-01-31T10:42:07Z.`;
    }
  }
  const range = parameters.get('range') ?? '';
  const isCustom = range === '' || range === 'custom';
  if (!isCustom && rangeMs(range) === undefined) {
    const possible = TIME_RANGES.map(([known]) => known).join(', ');
    return `The address has “${range}” as range, which is none. Possible are: ${possible}, or from and to.`;
  }
  const times = fixedTimes(rangeOfAddress(parameters) ?? '');
  return times?.fromMs !== undefined && times.toMs !== undefined && times.fromMs >= times.toMs
    ? 'The range ends before it begins.'
    : undefined;
}

/** The parameters of a range in an address. */
export function rangeParameters(range: Range): Readonly<Record<string, string>> {
  const times = fixedTimes(range);
  if (times === undefined) return range === '' ? {} : { range };
  const { fromMs, toMs } = times;
  return {
    ...(fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() }),
    ...(toMs === undefined ? {} : { to: new Date(toMs).toISOString() }),
  };
}

/** The address with another range; `fallback` is that of an address without one. */
export function addressWithRange(
  parameters: URLSearchParams,
  range: Range,
  fallback: Range,
): URLSearchParams {
  const next = new URLSearchParams(parameters);
  for (const name of ['range', 'from', 'to', 'since']) next.delete(name);
  if (range === fallback) return next;
  for (const [name, value] of Object.entries(rangeParameters(range))) next.set(name, value);
  return next;
}

/** The range in a request for statistics. */
export type StatisticsRange =
  | { readonly timeRange: string }
  | { readonly startTime: string; readonly endTime: string };

export function statisticsRange(range: Range, nowMs = Date.now()): StatisticsRange {
  const times = fixedTimes(range);
  if (times === undefined) return { timeRange: range };
  const { fromMs, toMs } = withBothEnds(times, nowMs);
  return { startTime: new Date(fromMs).toISOString(), endTime: new Date(toMs).toISOString() };
}

/** The range in a request for a list, in which both ends are included. */
export function listRange(range: Range, nowMs = Date.now()): { startTime?: string; endTime?: string } {
  const times = fixedTimes(range);
  const length = rangeMs(range);
  if (times !== undefined) {
    const { fromMs, toMs } = times;
    return {
      ...(fromMs === undefined ? {} : { startTime: new Date(fromMs).toISOString() }),
      ...(toMs === undefined ? {} : { endTime: new Date(toMs).toISOString() }),
    };
  }
  // A time in whole minutes, so that the same request is made while a page is drawn again.
  return length === undefined ? {} : { startTime: new Date(wholeMinute(nowMs) - length).toISOString() };
}

/** The times of a range at a time. Any time is the last 24 hours. */
export function timesAt(range: Range, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const times = fixedTimes(range);
  if (times !== undefined) return withBothEnds(times, nowMs);
  return { fromMs: nowMs - (rangeMs(range) ?? DAY_MS), toMs: nowMs };
}

/** A range around another one, twice as long. It ends now at the latest, and is not longer than statistics are. */
export function widened(range: Range, nowMs = Date.now()): Range {
  const { fromMs, toMs } = timesAt(range, nowMs);
  const length = Math.min(2 * (toMs - fromMs), MAX_STATISTICS_DAYS * DAY_MS);
  const end = Math.min(wholeMinute(nowMs) + MINUTE_MS, toMs + (toMs - fromMs) / 2);
  return fixedRange(Math.floor(end - length), Math.floor(end));
}

/** Time between two requests for the statistics of a range, in milliseconds; false if they do not change any more. */
export function refreshMs(range: Range, nowMs = Date.now()): number | false {
  const times = fixedTimes(range);
  if (times?.toMs !== undefined && times.toMs < nowMs) return false;
  return (rangeMs(range) ?? Number.POSITIVE_INFINITY) <= 3_600_000 ? 5_000 : 15_000;
}

function withBothEnds({ fromMs, toMs }: FixedRange, nowMs: number): { fromMs: number; toMs: number } {
  // Whole minutes, as above.
  const end = toMs ?? Math.max(wholeMinute(nowMs) + MINUTE_MS, (fromMs ?? 0) + MINUTE_MS);
  return { fromMs: fromMs ?? end - DAY_MS, toMs: end };
}

function wholeMinute(ms: number): number {
  return Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}

/** Versions of a control are compared from one to another: their numbers are no times. */
const VERSION = /^\d{1,8}$/;

/** A time of an address: RFC 3339, or seconds since 1970. */
function readTime(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || VERSION.test(trimmed)) return undefined;
  const ms = /^\d{9,11}$/.test(trimmed) ? Number(trimmed) * 1000 : Date.parse(trimmed);
  return Number.isNaN(ms) ? undefined : ms;
}
