import { describe, expect, it } from 'vitest';
import { checkFleet } from '../fleet/check-fleet.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { DATABASE_KINDS } from '../support/databases.js';

/** Sequences on each database; VERIFY_SEQUENCES sets another number. */
const SEQUENCES = Number(process.env.VERIFY_SEQUENCES ?? '2000');
const LIMIT_MS = 3_600_000;

describe.each(DATABASE_KINDS)('two that serve over one %s database', (kind) => {
  it(
    `return nothing that contradicts the revision they name, in ${SEQUENCES} sequences`,
    async () => {
      const seed = fuzzSeed();
      console.log(`fleet on ${kind}, seed ${seed}`);
      const began = performance.now();
      const tally = await checkFleet(kind, SEQUENCES, seed);
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`fleet on ${kind}: ${seconds} s, ${JSON.stringify(tally)}`);
      expect(tally.sequences).toBe(SEQUENCES);
      expect(tally.older).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
