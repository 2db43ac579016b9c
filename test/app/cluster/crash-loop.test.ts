import { describe, expect, it } from 'vitest';
import { createCrashLoop, MAX_EARLY_ENDS } from '../../../src/app/cluster/worker-pool.js';

describe('the replacement of workers that end', () => {
  it('comes at once for those that lived, however often', () => {
    const loop = createCrashLoop();
    for (let count = 0; count < 3 * MAX_EARLY_ENDS; count += 1) expect(loop.ended(false)).toBe(0);
  });
  it('comes later and later for those that did not, and then not at all', () => {
    const loop = createCrashLoop();
    expect(Array.from({ length: MAX_EARLY_ENDS }, () => loop.ended(true))).toEqual([0, 100, 200, 400, null]);
  });
  it('starts anew when one has survived', () => {
    const loop = createCrashLoop();
    for (let count = 1; count < MAX_EARLY_ENDS; count += 1) loop.ended(true);
    loop.survived();
    expect(loop.ended(true)).toBe(0);
  });
});
