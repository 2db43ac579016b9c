import { expect, it } from 'vitest';
import { compareMore, comparePlaces } from '../support/text-laws.js';

const RUNS = 60_000;
const seedOf = () => Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));

it.each([
  ['controls on a text, on the input around it and on the whole step agree', comparePlaces],
  ['adding members to a step hides nothing from a control', compareMore],
])(`${RUNS} times: %s`, { timeout: 1_800_000 }, async (name, compare) => {
  const seed = seedOf();
  const report = await compare(RUNS, seed);
  console.log(`${name}, seed ${seed}: ${JSON.stringify(report)}`);
  expect(Math.min(report.found, report.steps - report.found)).toBeGreaterThan(RUNS / 10);
});
