import type { Sign } from '../control-parts/sign.js';

/** What a part of a bar stands for: its color and fill, and its word. */
export interface ChartLayer {
  readonly sign: Sign;
  readonly word: string;
}

/** The counts of an interval by the signs of the layers. */
export interface ChartInterval {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly counts: Readonly<Partial<Record<Sign, number>>>;
}

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

/** One part of a bar, in pixels from the top of the chart. */
export interface BarPart {
  readonly layer: Sign;
  readonly y: number;
  readonly height: number;
}

/** The parts of the bar of an interval, from the bottom. They never exceed the chart. */
export function barParts(
  interval: ChartInterval,
  layers: readonly ChartLayer[],
  top: number,
  height: number,
): BarPart[] {
  const countOf = (sign: Sign) => interval.counts[sign] ?? 0;
  const shown = layers.map(({ sign }) => sign).filter((sign) => countOf(sign) > 0);
  const heights = shown.map((sign) => Math.max(LEAST_PIXELS, (countOf(sign) / Math.max(1, top)) * height));
  const sum = heights.reduce((all, one) => all + one, 0);
  const shrink = sum > height ? height / sum : 1;
  let y = height;
  return shown.map((layer, index) => {
    const own = (heights[index] ?? 0) * shrink;
    y -= own;
    return { layer, y, height: own };
  });
}

/** Height of the bar of an interval. */
export function barTotal({ counts }: ChartInterval, layers: readonly ChartLayer[]): number {
  return layers.reduce((sum, { sign }) => sum + (counts[sign] ?? 0), 0);
}

/** The highest bar. */
export function highestBar(intervals: readonly ChartInterval[], layers: readonly ChartLayer[]): number {
  return Math.max(0, ...intervals.map((interval) => barTotal(interval, layers)));
}

/** The counts of an interval in words, for example `3 denied, 1 error`. */
export function countsText({ counts }: ChartInterval, layers: readonly ChartLayer[]): string {
  const parts = layers
    .filter(({ sign }) => (counts[sign] ?? 0) > 0)
    .map(({ sign, word }) => `${(counts[sign] ?? 0).toLocaleString('en')} ${word}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/** Length of an interval in words, for example `5 minutes`. */
export function lengthText({ fromMs, toMs }: Pick<ChartInterval, 'fromMs' | 'toMs'>): string {
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

/** A label below the chart, at the beginning of an interval. */
export interface AxisLabel {
  readonly index: number;
  readonly text: string;
}

/**
 * The labels below a chart, in the zone of the viewer. No text is there twice: ranges of days have the days, each at its
 * first interval.
 */
export function axisLabels(
  intervals: readonly ChartInterval[],
  width: number,
  labelPixels: number,
): readonly AxisLabel[] {
  const [first] = intervals;
  const last = intervals.at(-1);
  if (first === undefined || last === undefined) return [];
  const length = first.toMs - first.fromMs;
  const isOfDays = length >= DAY_MS || last.toMs - first.fromMs > 2 * DAY_MS;
  const format = new Intl.DateTimeFormat('en-GB', isOfDays ? DAY_FORMAT : clockFormat(length));
  const texts = intervals.map(({ fromMs }) => format.format(fromMs));
  const step = Math.max(1, width) / intervals.length;
  // The first interval of a day, of those that are shorter; any interval otherwise.
  const possible = texts.flatMap((text, index) => (index === 0 || text !== texts[index - 1] ? [index] : []));
  const isPartial = isOfDays && length < DAY_MS;
  const candidates = isPartial && possible.length > 2 ? possible.slice(1) : possible;
  const gap = Math.max(0, ...candidates.map((index, at) => index - (candidates[at - 1] ?? index)));
  const every = Math.max(1, Math.ceil(labelPixels / Math.max(1, gap * step)));
  return candidates
    .filter((_index, at) => at % every === 0)
    .filter((index, at) => (at === 0 && index === 0) || index * step + labelPixels <= width + 0.01)
    .map((index) => ({ index, text: texts[index] ?? '' }));
}

const DAY_FORMAT: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

function clockFormat(lengthMs: number): Intl.DateTimeFormatOptions {
  return { hour: '2-digit', minute: '2-digit', ...(lengthMs < 60_000 ? { second: '2-digit' } : {}) };
}

/** Beginning and end of an interval in the zone of the viewer. */
export function intervalText({ fromMs, toMs }: Pick<ChartInterval, 'fromMs' | 'toMs'>): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(toMs - fromMs < 60_000 ? { second: '2-digit' } : {}),
  }).formatRange(fromMs, toMs);
}
