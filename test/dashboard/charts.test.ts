import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHECK_LAYERS,
  type IntervalCounts,
  intervalsOf,
} from '../../packages/dashboard/src/activity/bucket-counts.js';
import {
  axisLabels,
  axisTicks,
  barParts,
  barTotal,
  countsText,
  lengthText,
  niceCeiling,
} from '../../packages/dashboard/src/activity/chart-geometry.js';
import { eventsAddress } from '../../packages/dashboard/src/activity/events-address.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const interval = (counts: Partial<IntervalCounts['counts']>): IntervalCounts => ({
  fromMs: 0,
  toMs: 1,
  counts: { deny: 0, steer: 0, observe: 0, error: 0, ...counts },
  checks: 0,
});
const bucket = (day: number, deny: number) => ({
  timestamp: new Date(START + day * DAY_MS).toISOString(),
  executionTotal: BigInt(deny),
  errorTotal: 0n,
  actionTotals: { deny: BigInt(deny) },
});
const series = (days: readonly number[], total: number) => ({
  executionTotal: BigInt(total),
  errorTotal: 0n,
  actionTotals: { deny: BigInt(total) },
  timeseries: days.map((deny, day) => bucket(day, deny)),
});

describe('the axis of a chart', () => {
  it('has whole numbers in equal steps from 0 to beyond the highest bar, and few of them', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), (highest) => {
        const ticks = axisTicks(highest);
        const [zero, step = 0] = ticks;
        expect(zero).toBe(0);
        expect(Number.isInteger(step)).toBe(true);
        expect(ticks).toEqual(ticks.map((_, index) => index * step));
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(1, highest));
        expect(ticks.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  it('ends at a round number', () => {
    expect([0, 1, 2, 3, 7, 11, 120, 5_001].map(niceCeiling)).toEqual([1, 1, 2, 5, 10, 20, 200, 10_000]);
  });

  /** Intervals of equal length from a time on. */
  const intervals = (count: number, lengthMs: number, start = START) =>
    Array.from({ length: count }, (_, index) => ({
      fromMs: start + index * lengthMs,
      toMs: start + (index + 1) * lengthMs,
      counts: {},
    }));

  it('has labels that neither overlap nor leave the chart, and no day twice', () => {
    const lengths = fc.constantFrom(10_000, 60_000, 3_600_000, 6 * 3_600_000, DAY_MS);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 80, max: 2_500 }),
        lengths,
        (count, width, length) => {
          const shown = axisLabels(intervals(count, length), width, 76);
          const starts = shown.map(({ index }) => (index * width) / count);
          for (const [at, start] of starts.entries()) {
            if (at > 0) expect(start - (starts[at - 1] ?? 0)).toBeGreaterThanOrEqual(75.99);
            if (at > 0) expect(start + 76).toBeLessThanOrEqual(width + 0.02);
          }
          const days = shown.map(({ text }) => text).filter((text) => !text.includes(':'));
          expect(new Set(days).size).toBe(days.length);
        },
      ),
    );
  });

  it('has each day once, where it begins', () => {
    const noon = new Date(2026, 0, 1, 12).getTime();
    const shown = axisLabels(intervals(28, 6 * 3_600_000, noon), 1_000, 76);
    expect(shown.map(({ text }) => text)).toEqual(['2 Jan', '3 Jan', '4 Jan', '5 Jan', '6 Jan', '7 Jan']);
    expect(shown[0]?.index).toBe(2);
  });
});

describe('a bar', () => {
  it('shows every decision that there is, from the bottom, within the chart', () => {
    const count = fc.oneof(fc.constant(0), fc.nat({ max: 10 }), fc.nat({ max: 1_000_000 }));
    const counts = fc.record({ deny: count, steer: count, observe: count, error: count });
    fc.assert(
      fc.property(counts, fc.nat({ max: 100 }), (given, more) => {
        const one = interval(given);
        const parts = barParts(one, CHECK_LAYERS, Math.max(1, barTotal(one, CHECK_LAYERS) + more), 160);
        const shown = Object.entries(given).filter(([, value]) => value > 0);
        expect(parts.map(({ layer }) => layer)).toEqual(shown.map(([layer]) => layer));
        let bottom = 160;
        for (const { y, height } of parts) {
          expect(height).toBeGreaterThan(0);
          expect(y + height).toBeCloseTo(bottom, 6);
          bottom = y;
        }
        expect(bottom).toBeGreaterThanOrEqual(-1e-6);
      }),
    );
  });

  it('has its numbers in words', () => {
    expect(countsText(interval({ deny: 1_200, error: 1 }), CHECK_LAYERS)).toBe('1,200 denied, 1 error');
    expect(countsText(interval({}), CHECK_LAYERS)).toBe('nothing');
  });
});

describe('the intervals of a chart', () => {
  it('are those of the series', () => {
    const found = intervalsOf(series([1, 2, 3], 6), START + 3 * DAY_MS);
    expect(found.map(({ counts }) => counts.deny)).toEqual([1, 2, 3]);
    expect(found.map(lengthText)).toEqual(['day', 'day', 'day']);
    expect(found.at(-1)?.toMs).toBe(START + 3 * DAY_MS);
  });

  it('end with what the totals have beyond the series, up to now', () => {
    const found = intervalsOf(series([1, 2, 3], 10), START + 3.5 * DAY_MS);
    expect(found.map(({ counts, checks }) => [counts.deny, checks])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);
    expect(lengthText(found.at(-1) ?? { fromMs: 0, toMs: 0 })).toBe('12 hours');
  });

  it('do not end with a rest for events of the future, nor for clocks that differ', () => {
    expect(intervalsOf(series([1, 2, 3], 10), START + 2.9 * DAY_MS)).toHaveLength(3);
    expect(intervalsOf(series([1, 2, 3], 6), START + 3 * DAY_MS + 60_000)).toHaveLength(3);
  });

  it('are as long as the server says, also if there is only one', () => {
    const found = intervalsOf({ ...series([4], 4), bucketSeconds: 3_600 }, START + 3_600_000);
    expect(found.map(lengthText)).toEqual(['hour']);
  });

  it('are none without a series', () => {
    expect(intervalsOf(series([], 0), START)).toEqual([]);
  });
});

describe('the address of the events that a number counts', () => {
  it('has the range and the filters of the number', () => {
    expect(eventsAddress({ range: '7d', agent: 'a b&c', action: 'deny' })).toBe(
      '/events?agent=a+b%26c&outcome=denied&range=7d',
    );
    expect(eventsAddress({ range: '7d', control: 3, errors: true })).toBe(
      '/events?control=3&outcome=error&range=7d',
    );
    expect(
      eventsAddress({ range: '7d', from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }),
    ).toBe('/events?from=2026-01-01T00%3A00%3A00.000Z&to=2026-01-02T00%3A00%3A00.000Z');
  });
});
