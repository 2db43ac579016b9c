import { expect, it } from 'vitest';
import { NOTHING_WRONG, upgradeRun } from '../observe/events/upgrade-runs.js';
import { fuzzSeed, Random } from '../serve/wire/random.js';
import { describeOnEachEmptyDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const EVENTS = Number(process.env.VERIFY_EVENTS ?? 1_000_000);
/** How long events and evaluations come in after the service has started. */
const SECONDS = Number(process.env.VERIFY_SECONDS ?? 60);
const LIMIT_MS = 3_600_000;

describeOnEachEmptyDatabase('a database of the last release', (freshDatabaseUrl, kind) => {
  it(
    `with ${EVENTS} events is upgraded while events come in and steps are evaluated`,
    async () => {
      const seed = fuzzSeed();
      const databaseUrl = await freshDatabaseUrl();
      const report = await upgradeRun({
        compiled,
        kind,
        databaseUrl,
        events: EVENTS,
        days: 20,
        loadMs: SECONDS * 1_000,
        random: new Random(seed),
      });
      console.log(`upgrade of ${kind}, seed ${seed}: ${JSON.stringify(report)}`);
      expect(report).toMatchObject(NOTHING_WRONG);
    },
    LIMIT_MS,
  );
});
