import { expect, it } from 'vitest';
import { compareHistories } from './history-differential.js';

/** A slice of test/long/history.long.ts. */
it('history answers as an interpreter that keeps every event', () => {
  const { differences, ...figures } = compareHistories(1, 300);
  expect(differences.slice(0, 1)).toEqual([]);
  expect(figures.answers).toBe(9_000);
  expect(figures.matched).toBeGreaterThan(1_500);
  expect(figures.repeated).toBeGreaterThan(450);
  expect(figures.denied).toBeGreaterThan(450);
  expect(figures.errors).toBeGreaterThan(3);
});
