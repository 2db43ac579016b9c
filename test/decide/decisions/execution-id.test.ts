import { describe, expect, it } from 'vitest';
import { createExecutionIds } from '../../../src/decide/decisions/execution-id.js';

describe('execution ids', () => {
  it('are random UUIDs, no two of them alike', () => {
    const next = createExecutionIds();
    const ids = Array.from({ length: 20_000 }, next);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have every digit in every place that is free', () => {
    const next = createExecutionIds();
    const seen = Array.from({ length: 36 }, () => new Set<string>());
    for (let count = 0; count < 5_000; count += 1) {
      for (const [place, digit] of [...next()].entries()) seen[place]?.add(digit);
    }
    // The dashes, the version, and the variant, of which two bits are free.
    const fewer = new Map([...[8, 13, 18, 23, 14].map((place) => [place, 1] as const), [19, 4] as const]);
    expect(seen.map((digits) => digits.size)).toEqual(seen.map((_, place) => fewer.get(place) ?? 16));
  });
});
