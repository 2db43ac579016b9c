import { describe, expect, it } from 'vitest';
import { durationText, limitText, usedShare } from '../../packages/dashboard/src/limits/limit-text.js';

describe('a limit as it is shown', () => {
  it('has its used share and what is left', () => {
    expect(usedShare({ limit: 20, remaining: 4 })).toBe('80 %');
    expect(limitText({ limit: 2_000, remaining: 4.5 })).toBe('4.5 of 2,000');
    expect([usedShare(undefined), limitText(undefined)]).toEqual(['–', '–']);
  });

  it('is used up if nothing is allowed, and never beyond', () => {
    expect(usedShare({ limit: 0, remaining: 0 })).toBe('100 %');
    expect(usedShare({ limit: 5, remaining: 0 })).toBe('100 %');
  });

  it.each([
    [0, 1, 'in 1 second'],
    [59, 0, 'in 59 seconds'],
    [60, 0, 'in 1 minute'],
    [61, 0, 'in 2 minutes'],
    [86_400, 0, 'in 1 day'],
    [90_000, 0, 'in 2 days'],
  ])('resets after %i seconds and %i ns: %s', (seconds, nanos, said) => {
    expect(durationText({ seconds: BigInt(seconds), nanos }, 'never')).toBe(said);
  });

  it('may not reset by itself', () => {
    expect(durationText(undefined, 'not by itself')).toBe('not by itself');
  });
});
