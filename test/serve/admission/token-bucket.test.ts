import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../src/serve/admission/token-bucket.js';

describe('a token bucket', () => {
  it('gives its burst at once, and then as much as the rate', () => {
    const bucket = new TokenBucket(10, 5, 0);
    for (let count = 0; count < 5; count += 1) expect(bucket.take(1, 0)).toBe(true);
    expect(bucket.take(1, 0)).toBe(false);
    expect(bucket.waitMs(1, 0)).toBe(100);
    expect(bucket.take(1, 99)).toBe(false);
    expect(bucket.take(1, 100)).toBe(true);
    expect(bucket.isFull(200)).toBe(false);
    expect(bucket.isFull(10_000)).toBe(true);
  });

  it('requires a wait of its whole burst for more than it can ever hold', () => {
    const bucket = new TokenBucket(10, 5, 0);
    expect(bucket.waitMs(1_000, 0)).toBe(0);
    bucket.owe(1_000, 0);
    expect(bucket.waitMs(1, 0)).toBe(99_600);
    expect(bucket.waitMs(1_000, 0)).toBe(100_000);
  });

  it('never gives more than its burst and what its rate gives in the time that went by', () => {
    const step = fc.record({ pause: fc.nat(500), units: fc.integer({ min: 1, max: 8 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(step),
        (rate, burst, steps) => {
          const bucket = new TokenBucket(rate, burst, 0);
          let now = 0;
          let taken = 0;
          for (const { pause, units } of steps) {
            now += pause;
            const wait = bucket.waitMs(units, now);
            const isTaken = bucket.take(units, now);
            if (isTaken) taken += units;
            expect(isTaken).toBe(wait === 0 && units <= burst);
            expect(taken).toBeLessThanOrEqual(burst + (rate * now) / 1000 + 1e-6);
          }
        },
      ),
    );
  });
});
