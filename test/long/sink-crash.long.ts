import { expect, it } from 'vitest';
import { NOTHING_WRONG, sinkCrashRuns } from '../observe/events/sinks/sink-crash-runs.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const KILLS = 50;
const LIMIT_MS = 3_600_000;

describeOnEachDatabase('stored events', (freshDatabaseUrl, kind) => {
  it(
    `are in listed files once, and in Kafka, after ${KILLS} sudden deaths of the service`,
    async () => {
      const seed = fuzzSeed();
      console.log(`crash runs of sinks on ${kind}, seed ${seed}`);
      const report = await sinkCrashRuns({
        compiled,
        databaseUrl: await freshDatabaseUrl(),
        kills: KILLS,
        seed,
      });
      console.log(`crash runs of sinks on ${kind}: ${JSON.stringify(report)}`);
      expect(report).toMatchObject(NOTHING_WRONG);
      expect(report.files).toBeGreaterThan(KILLS);
    },
    LIMIT_MS,
  );
});
