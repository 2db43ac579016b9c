import { expect, it } from 'vitest';
import { compareRandomDecoding } from '../serve/wire/decode-cases.js';
import { compareRandomEncoding } from '../serve/wire/encode-cases.js';
import { fuzzSeed, Random } from '../serve/wire/random.js';

const MESSAGES = 300_000;
const REPLIES = 100_000;
const LIMIT_MS = 900_000;

it(`reads ${MESSAGES} random and damaged messages as protobuf-es does`, { timeout: LIMIT_MS }, () => {
  const seed = fuzzSeed();
  console.log(`codec fuzz, decoding, seed ${seed}`);
  const tally = compareRandomDecoding(new Random(seed), MESSAGES);
  console.log(`codec fuzz, decoding: ${JSON.stringify(tally)}`);
  expect(tally.direct).toBeGreaterThan(MESSAGES / 4);
  expect(tally.messages - tally.accepted).toBeGreaterThan(MESSAGES / 20);
});

it(`writes ${REPLIES} random replies byte for byte as protobuf-es does`, { timeout: LIMIT_MS }, () => {
  const seed = fuzzSeed();
  console.log(`codec fuzz, encoding, seed ${seed}`);
  compareRandomEncoding(new Random(seed), REPLIES);
});
