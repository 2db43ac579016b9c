import { expect, it } from 'vitest';
import { compareHistories } from '../kernel/evaluators/memory/history-differential.js';

it('history answers as an interpreter that keeps every event', { timeout: 900_000 }, () => {
  const { differences, answers } = compareHistories(1_000_000, 10_000);
  expect(differences.slice(0, 1)).toEqual([]);
  expect(answers).toBe(300_000);
});
