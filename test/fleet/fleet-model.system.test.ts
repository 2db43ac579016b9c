import { describe, expect, it } from 'vitest';
import { caseSeed } from '../serve/wire/random.js';
import { DATABASE_KINDS } from '../support/databases.js';
import { checkFleet } from './check-fleet.js';

/** What there is time for at every change; test/long has the rest. */
const SEQUENCES = { sqlite: 10, postgresql: 10 };

describe.each(DATABASE_KINDS)('two that serve over one %s database', (kind) => {
  it('return nothing that contradicts the revision they name, whatever happens to them', async () => {
    const seed = caseSeed();
    console.log(`fleet on ${kind}, seed ${seed}`);
    const tally = await checkFleet(kind, SEQUENCES[kind], seed);
    console.log(`fleet on ${kind}: ${JSON.stringify(tally)}`);
    expect(tally.sequences).toBe(SEQUENCES[kind]);
    // Otherwise nothing was tested: some verdicts came before the change that was made elsewhere had arrived.
    expect(tally.older).toBeGreaterThan(0);
  });
});
