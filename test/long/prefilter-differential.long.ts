import { expect, it } from 'vitest';
import { comparePrefilter } from '../support/prefilter-differential.js';

const CASES = 100_000;

it(`${CASES} generated sets of patterns give the same results with and without prefilter`, {
  timeout: 900_000,
}, () => {
  const seed = Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const report = comparePrefilter(CASES, seed);
  console.log(`prefilter, seed ${seed}: ${JSON.stringify(report)}`);
  expect(Math.min(report.found, report.ruledOut)).toBeGreaterThan(report.pairs / 20);
});
