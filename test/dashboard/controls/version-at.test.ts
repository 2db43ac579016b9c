import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { versionAt } from '../../../packages/dashboard/src/control-parts/version-at.js';

describe('the version that was current at a time', () => {
  it('is the last one that is not later, found with few questions', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(times, fc.integer({ min: -1, max: 1_001 }), async (unsorted, at) => {
        const sorted = unsorted.toSorted((a, b) => a - b);
        let questions = 0;
        const found = await versionAt(at, sorted.length, async (versionNum) => {
          questions += 1;
          return sorted[versionNum - 1] ?? Number.NaN;
        });
        const count = sorted.filter((time) => time <= at).length;
        expect(found).toBe(count === 0 ? undefined : count);
        expect(questions).toBeLessThanOrEqual(Math.ceil(Math.log2(sorted.length + 1)) + 1);
      }),
    );
  });
});
