import { expect, it } from 'vitest';
import { crashRuns, NOTHING_WRONG } from '../observe/events/crash-runs.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const KILLS = 50;
const LIMIT_MS = 3_600_000;

describeOnEachDatabase('events that were acknowledged', (freshDatabaseUrl, kind) => {
  it(
    `are stored once, and counted, after ${KILLS} sudden deaths of the service`,
    async () => {
      const seed = fuzzSeed();
      console.log(`crash runs on ${kind}, seed ${seed}`);
      const began = performance.now();
      const report = await crashRuns({ compiled, databaseUrl: await freshDatabaseUrl(), kills: KILLS, seed });
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`crash runs on ${kind}: ${seconds} s, ${JSON.stringify(report)}`);
      expect(report).toMatchObject(NOTHING_WRONG);
      expect(Math.min(...Object.values(report.kills))).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
