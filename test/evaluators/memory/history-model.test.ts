import { expect, it } from 'vitest';
import { compareHistories } from './history-differential.js';

it('history answers as an interpreter that keeps every event', { timeout: 120_000 }, () => {
  const { differences, ...figures } = compareHistories(1, 1_000);
  expect(differences.slice(0, 1)).toEqual([]);
  expect(figures.answers).toBe(30_000);
  expect(figures.matched).toBeGreaterThan(5_000);
  expect(figures.repeated).toBeGreaterThan(1_500);
  expect(figures.denied).toBeGreaterThan(1_500);
  expect(figures.errors).toBeGreaterThan(10);
});
