import { expect, it } from 'vitest';
import { compareWithReference } from './reference/compare.js';

const PAIRS = 800;

/** A slice of test/long/core-differential.long.ts. */
it(`the compiled core decides as the contract does, on ${PAIRS} pairs of controls and a step`, async () => {
  const seen = await compareWithReference(PAIRS, 4_711);
  // The generator must reach every list often, or the comparison says little.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(PAIRS / 20);
});
