import { TIME_RANGES } from '../time-range.js';
import { fixedTimes, type Range } from './range.js';

const DAY_MS = 86_400_000;

/** A range in words, in the zone of the viewer, for example `Last 24 hours` or `25 Nov 10:00 – 11:30`. */
export function rangeText(range: Range): string {
  const times = fixedTimes(range);
  if (times === undefined) {
    if (range === '') return 'Any time';
    return `Last ${TIME_RANGES.find(([known]) => known === range)?.[1] ?? range}`;
  }
  const { fromMs, toMs } = times;
  if (fromMs === undefined) return toMs === undefined ? 'Any time' : `Until ${dayAndClock(toMs)}`;
  if (toMs === undefined) return `Since ${dayAndClock(fromMs)}`;
  const isOneDay = dayOf(fromMs) === dayOf(toMs) && toMs - fromMs < DAY_MS;
  return `${dayAndClock(fromMs)} – ${isOneDay ? clockOf(toMs) : dayAndClock(toMs)}`;
}

function dayAndClock(ms: number): string {
  return `${dayOf(ms)} ${clockOf(ms)}`;
}

function dayOf(ms: number): string {
  const isThisYear = new Date(ms).getFullYear() === new Date().getFullYear();
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(ms);
}

function clockOf(ms: number): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(ms % 60_000 === 0 ? {} : { second: '2-digit' }),
  }).format(ms);
}
