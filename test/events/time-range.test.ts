import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segmentsOf, TIME_RANGES, timeWindow } from '../../src/events/store/time-range.js';

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
