import { expect, it } from 'vitest';
import { monthOf, partitionOf } from '../src/index.js';

const usOf = (time: string) => BigInt(Date.parse(time)) * 1_000n;

it('the month of a time is that in UTC, also before 1970', () => {
  expect(monthOf(usOf('2026-11-30T23:59:59.999Z'))).toBe(202_611);
  expect(monthOf(usOf('2026-12-01T00:00:00Z'))).toBe(202_612);
  expect(monthOf(usOf('1969-12-31T23:59:59Z'))).toBe(196_912);
});

it('rows of months near to now have a partition for each, all others share two', () => {
  const now = Date.parse('2026-11-25T00:00:00Z');
  const partition = (time: string) => partitionOf(usOf(time), now);
  expect(partition('2026-11-25T00:00:00Z')).toBe(202_611);
  expect(partition('2026-12-31T00:00:00Z')).toBe(202_612);
  expect(partition('2025-11-01T00:00:00Z')).toBe(202_511);
  expect(partition('2024-01-01T00:00:00Z')).toBe(0);
  expect(partition('2027-02-01T00:00:00Z')).toBe(999_912);
});
