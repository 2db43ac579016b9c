import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  previousStart,
  segmentsOf,
  TIME_RANGES,
  timeWindow,
  windowOf,
} from '../../../src/observe/events/store/time-range.js';

const range = fc.constantFrom(...TIME_RANGES);
const nowMs = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 });

describe('the window of a range', () => {
  it('starts with the first whole unit and ends now or later', () => {
    fc.assert(
      fc.property(range, nowMs, (name, now) => {
        const { startS, unitS, bucketS, buckets } = timeWindow(name, now);
        const lengthS = { '180d': 180 * 86_400, '365d': 365 * 86_400 }[name as string] ?? bucketS * buckets;
        expect(startS % unitS).toBe(0);
        expect(startS * 1000).toBeGreaterThanOrEqual(now - lengthS * 1000);
        expect((startS - unitS) * 1000).toBeLessThan(now - lengthS * 1000);
      }),
    );
  });

  it('is made of rollups that hold each second once, in its bucket', () => {
    fc.assert(
      fc.property(range, nowMs, fc.boolean(), (name, now, byBucket) => {
        const window = timeWindow(name, now);
        const segments = segmentsOf(window, byBucket);
        let at = window.startS;
        for (const { bucket, unitS, fromS, toS } of segments) {
          expect(fromS).toBe(at);
          expect([fromS % unitS, toS % unitS, toS > fromS]).toEqual([0, 0, true]);
          expect(unitS).toBeGreaterThanOrEqual(window.unitS);
          const inBucket = byBucket && fromS < window.bucketsEndS;
          const last = toS - unitS;
          const bucketOf = (second: number) => Math.floor((second - window.startS) / window.bucketS);
          expect(bucket).toBe(inBucket ? bucketOf(fromS) : null);
          if (inBucket) expect(bucketOf(last)).toBe(bucket);
          at = toS;
        }
        // Nothing is later than the year 9999.
        expect(at * 1000).toBeGreaterThan(Date.UTC(9999, 11, 31));
      }),
    );
  });

  it('is read in few pieces', () => {
    const most = (byBucket: boolean) =>
      Math.max(
        ...TIME_RANGES.flatMap((name) =>
          Array.from({ length: 100 }, (_, index) => {
            const window = timeWindow(name, 1_750_000_000_000 + index * 1_234_567);
            const rows = segmentsOf(window, byBucket)
              .filter(({ toS }) => toS < 1e11)
              .map(({ unitS, fromS, toS }) => (toS - fromS) / unitS);
            return rows.reduce((sum, one) => sum + one, 0);
          }),
        ),
      );
    // At most so many units have to be looked at, of each control; without the long units it would be 10,080.
    expect(most(false)).toBeLessThan(400);
    expect(most(true)).toBeLessThan(2_000);
  });
});

const DAY_S = 86_400;

describe('the window from one time to another', () => {
  const asked = nowMs.chain((now) => {
    const nowUs = now * 1_000;
    const backUs = fc.oneof(
      fc.integer({ min: -DAY_S, max: 9 * DAY_S }),
      fc.integer({ min: -DAY_S, max: 400 * DAY_S }),
    );
    const lengthUs = fc.oneof(
      fc.integer({ min: 1, max: 3_600_000_000 }),
      fc.integer({ min: 1, max: 366 * DAY_S }).map((seconds) => seconds * 1e6),
    );
    return fc
      .record({ now: fc.constant(now), backUs, lengthUs })
      .map(({ backUs: back, lengthUs: length }) => {
        const startUs = BigInt(nowUs - back * 1e6);
        return { now, range: { name: 'custom', startUs, endUs: startUs + BigInt(length) } } as const;
      });
  });

  it('has all of it, and less than two units more', () => {
    fc.assert(
      fc.property(asked, ({ now, range }) => {
        const { startS, endS = 0 } = windowOf(range, now);
        const unitAt = (atS: number) => (atS < now / 1000 - 7 * DAY_S ? 3_600 : 60);
        const [fromS, toS] = [Number(range.startUs) / 1e6, Number(range.endUs) / 1e6];
        expect(startS).toBeLessThanOrEqual(fromS);
        expect(fromS - startS).toBeLessThan(unitAt(fromS));
        expect(endS).toBeGreaterThanOrEqual(toS);
        expect(endS - toS).toBeLessThan(unitAt(toS));
        expect(startS).toBeLessThan(endS);
      }),
    );
  });

  it('has few buckets of a round length, and is made of rollups that are kept', () => {
    fc.assert(
      fc.property(asked, ({ now, range }) => {
        const window = windowOf(range, now);
        const { startS, endS = 0, bucketS, buckets, bucketsEndS } = window;
        expect(buckets).toBeGreaterThan(0);
        expect(buckets).toBeLessThanOrEqual(60);
        expect(bucketsEndS - bucketS).toBeLessThan(endS);
        expect(bucketsEndS).toBeGreaterThanOrEqual(endS);
        // Twenty, unless units are longer.
        if (bucketS > 3_600) expect(buckets).toBeGreaterThanOrEqual(20);
        for (const byBucket of [true, false]) {
          let at = startS;
          for (const { bucket, unitS, fromS, toS } of segmentsOf(window, byBucket)) {
            expect(fromS).toBe(at);
            expect([fromS % unitS, toS % unitS, toS > fromS]).toEqual([0, 0, true]);
            expect(unitS).toBeGreaterThanOrEqual(60);
            if (unitS === 60) expect(fromS).toBeGreaterThan(now / 1000 - 7.1 * DAY_S);
            if (byBucket) expect(bucket).toBe(Math.floor((toS - 1 - startS) / bucketS));
            at = toS;
          }
          expect(at).toBe(endS);
        }
      }),
    );
  });
});

describe('the range before', () => {
  it('is as long, and starts with an hour where minutes may be gone', () => {
    const now = 1_750_000_000_000;
    const nowS = now / 1000;
    const hour = windowOf({ name: '1h' }, now, 60);
    expect(previousStart({ name: '1h' }, hour, now)).toBe(hour.startS - 3_600);
    const week = windowOf({ name: '7d' }, now, 60);
    const before = previousStart({ name: '7d' }, week, now);
    expect(before % 3_600).toBe(0);
    expect(week.startS - 7 * DAY_S - before).toBeLessThan(3_600);
    const endUs = BigInt(nowS) * 1_000_000n;
    const custom = { name: 'custom', startUs: endUs - 7_200_000_000n, endUs } as const;
    const window = windowOf(custom, now);
    expect(previousStart(custom, window, now)).toBe(window.startS - ((window.endS ?? 0) - window.startS));
  });
});

describe('the window of counts by minute', () => {
  it.each(TIME_RANGES)('has no shorter units or buckets: %s', (name) => {
    const { startS, unitS, bucketS, buckets } = windowOf({ name }, 1_750_000_012_345, 60);
    expect(startS % unitS).toBe(0);
    expect(Math.min(unitS, bucketS)).toBeGreaterThanOrEqual(60);
    expect(bucketS % unitS).toBe(0);
    expect(buckets).toBeGreaterThan(0);
  });
});
