import { expect, it } from 'vitest';
import { compareRandomDecoding } from './decode-cases.js';
import { compareRandomEncoding } from './encode-cases.js';
import { caseSeed, Random } from './random.js';

const MESSAGES = 5_000;

it(`reads ${MESSAGES} random and damaged messages as protobuf-es does`, () => {
  const seed = caseSeed();
  console.log(`decoding, seed ${seed}`);
  const tally = compareRandomDecoding(new Random(seed), MESSAGES);
  // Both ways of reading must be met often, and both answers.
  expect(tally.direct).toBeGreaterThan(MESSAGES / 8);
  expect(tally.accepted).toBeGreaterThan(tally.direct);
  expect(tally.messages - tally.accepted).toBeGreaterThan(MESSAGES / 20);
});

it('writes random replies byte for byte as protobuf-es does', () => {
  const seed = caseSeed();
  console.log(`encoding, seed ${seed}`);
  compareRandomEncoding(new Random(seed), MESSAGES / 2);
});
