import { expect, it } from 'vitest';
import { unexplainedDifferences } from '../evaluators/shell/shell-differential.js';
import { fuzzSeed } from '../transport/wire/random.js';

const LINES = 10_000;

it(`judges ${LINES} command lines as bash -n does, with the listed exceptions`, { timeout: 900_000 }, () => {
  const seed = fuzzSeed();
  const { unexplained, ...tally } = unexplainedDifferences(seed, LINES);
  console.log(`shell differential, seed ${seed}: ${JSON.stringify(tally)}`);
  expect(unexplained).toEqual([]);
});
