import { expect, it } from 'vitest';
import { problemsOf, SMOKES } from '../../bench/support/smoke-plan.mjs';

const expected = { rows: ['one', 'two'], more: 'chunk ' };
const row = (name: string) => ({ name, value: 1, unit: 'ms' });

it('a benchmark that prints the listed rows with numbers has no problem', () => {
  const rows = [row('two'), { ...row('one'), yardstick: 2, ratio: 0.5 }, row('chunk 7')];
  expect(problemsOf(expected, rows)).toEqual([]);
});

it.each([
  ['a missing row', [row('one')], 'has no row "two"'],
  ['a row that is not listed', [row('one'), row('two'), row('three')], 'has a row "three"'],
  [
    'a figure that is no number',
    [row('one'), { ...row('two'), value: null }],
    'has no number as value of "two"',
  ],
  [
    'a ratio that is no number',
    [row('one'), { ...row('two'), ratio: null }],
    'has no number as ratio of "two"',
  ],
])('%s is a problem', (_what, rows, problem) => {
  // What is not a finite number is null in the file.
  expect(problemsOf(expected, rows)).toEqual([expect.stringContaining(problem)]);
});

it('no row is listed twice', () => {
  for (const { rows } of SMOKES) expect([...new Set(rows)]).toEqual(rows);
});
