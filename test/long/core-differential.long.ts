import { expect, it } from 'vitest';
import { compareWithReference } from '../kernel/core/reference/compare.js';

const PAIRS = 50_000;

it(`the compiled core decides as the contract does, on ${PAIRS} pairs of controls and a step`, {
  timeout: 900_000,
}, async () => {
  const seed = Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const seen = await compareWithReference(PAIRS, seed);
  console.log(`core against reference, seed ${seed}: ${JSON.stringify(seen)}`);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(PAIRS / 20);
});
