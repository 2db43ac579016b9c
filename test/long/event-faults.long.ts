import { describe, expect, it } from 'vitest';
import { faultRuns, NOTHING_WRONG } from '../observe/events/fault-runs.js';
import { FAULTABLE_STORES } from '../observe/events/faultable-stores.js';
import { fuzzSeed, Random } from '../serve/wire/random.js';
import { compiled } from '../support/service-process.js';

/** Of the service, and of the storage if it has a server. */
const KILLS = Number(process.env.VERIFY_KILLS ?? 50);
/** How long the storage is away after each kill of it, in seconds, by turns. */
const OUTAGES_S = (process.env.VERIFY_OUTAGES_S ?? '0,0.2,1,0.2,5').split(',').map(Number);
const LIMIT_MS = 12 * 3_600_000;

describe.each(Object.entries(FAULTABLE_STORES))('events in %s', (name, create) => {
  it(
    `that were acknowledged are stored, counted and watched once after ${KILLS} deaths of each side`,
    async () => {
      await using store = await create();
      const seed = fuzzSeed();
      const began = performance.now();
      const report = await faultRuns({
        compiled,
        store,
        kills: KILLS,
        outagesMs: OUTAGES_S.map((seconds) => seconds * 1_000),
        random: new Random(seed),
      });
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`faults of ${name}, seed ${seed}: ${seconds} s, ${JSON.stringify(report)}`);
      expect(report).toMatchObject(NOTHING_WRONG);
    },
    LIMIT_MS,
  );
});
