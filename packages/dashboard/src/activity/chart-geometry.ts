import { barTotal, type IntervalCounts, LAYERS, type Layer } from './bucket-counts.js';

/** Least height of a part that is not empty, in pixels: a single error must be visible. */
const LEAST_PIXELS = 3;
const MAX_TICKS = 4;
const DAY_MS = 86_400_000;

/** The least of 1, 2, 5, 10, 20, 50, … that is not below a number; at least 1. */
export function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}

/** Whole numbers from 0 to at least `highest`, in equal steps, for the lines of an axis. */
export function axisTicks(highest: number): number[] {
  const step = niceCeiling(Math.max(1, highest) / MAX_TICKS);
  const count = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Positions of the intervals that get a label to their right, when each needs `labelPixels`. */
export function labelledIntervals(count: number, width: number, labelPixels: number): number[] {
  const step = Math.max(1, width) / Math.max(1, count);
  const every = Math.max(1, Math.ceil(labelPixels / step));
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => index * every).filter(
    (index) => index === 0 || index * step + labelPixels <= width,
  );
}

/** One part of a bar, in pixels from the top of the chart. */
export interface BarPart {
  readonly layer: Layer;
  readonly y: number;
  readonly height: number;
}

/** The parts of the bar of an interval, from the bottom. They never exceed the chart. */
export function barParts(interval: IntervalCounts, top: number, height: number): BarPart[] {
  const shown = LAYERS.filter((layer) => interval.counts[layer] > 0);
  const heights = shown.map((layer) =>
    Math.max(LEAST_PIXELS, (interval.counts[layer] / Math.max(1, top)) * height),
  );
  const sum = heights.reduce((all, one) => all + one, 0);
  const shrink = sum > height ? height / sum : 1;
  let y = height;
  return shown.map((layer, index) => {
    const own = (heights[index] ?? 0) * shrink;
    y -= own;
    return { layer, y, height: own };
  });
}

/** The highest bar. */
export function highestBar(intervals: readonly IntervalCounts[]): number {
  return Math.max(0, ...intervals.map(barTotal));
}

/** Length of an interval in words, for example `5 minutes`. */
export function lengthText({ fromMs, toMs }: Pick<IntervalCounts, 'fromMs' | 'toMs'>): string {
  const seconds = Math.round((toMs - fromMs) / 1000);
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  const [unit, size] = units.find(([, length]) => seconds >= length && seconds % length === 0) ?? units[3];
  const count = seconds / size;
  return count === 1 ? unit : `${count} ${unit}s`;
}

/** Label of an interval below the chart, in the zone of the viewer. */
export function axisLabel({ fromMs, toMs }: Pick<IntervalCounts, 'fromMs' | 'toMs'>, spanMs: number): string {
  const length = toMs - fromMs;
  const options: Intl.DateTimeFormatOptions =
    length >= DAY_MS || spanMs > 2 * DAY_MS
      ? { day: 'numeric', month: 'short' }
      : { hour: '2-digit', minute: '2-digit', ...(length < 60_000 ? { second: '2-digit' } : {}) };
  return new Intl.DateTimeFormat('en-GB', options).format(fromMs);
}

/** Beginning and end of an interval in the zone of the viewer. */
export function intervalText({ fromMs, toMs }: Pick<IntervalCounts, 'fromMs' | 'toMs'>): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(toMs - fromMs < 60_000 ? { second: '2-digit' } : {}),
  }).formatRange(fromMs, toMs);
}
