import { expect, it } from 'vitest';
import { compareMore, comparePlaces } from '../../support/text-laws.js';

const RUNS = 500;

/** Slices of test/long/texts-laws.long.ts. */
it('controls on a text, on the input around it and on the whole step agree', async () => {
  const report = await comparePlaces(RUNS, 8_231);
  expect(Math.min(report.found, report.steps - report.found)).toBeGreaterThan(RUNS / 10);
});

it('adding members to a step hides nothing from a control', async () => {
  const report = await compareMore(RUNS, 4_077);
  expect(Math.min(report.found, report.steps - report.found)).toBeGreaterThan(RUNS / 10);
});
