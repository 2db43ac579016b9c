import { expect, it } from 'vitest';
import { killRuns, NOTHING_WRONG } from '../../packages/events-clickhouse/test/kill-runs.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const KILLS = 50;
const LIMIT_MS = 3_600_000;

/** Needs the test server: `npm run test:clickhouse` installs it. */
describeOnEachDatabase('events on ClickHouse that were acknowledged', (freshDatabaseUrl, kind) => {
  it(
    `are stored and counted once after ${KILLS} sudden deaths of the service and of ClickHouse`,
    async () => {
      const seed = fuzzSeed();
      console.log(`kills with controls on ${kind}, seed ${seed}`);
      const databaseUrl = await freshDatabaseUrl();
      const report = await killRuns({ compiled, databaseUrl, kills: KILLS, seed, longestOutageMs: 10_000 });
      console.log(`kills with controls on ${kind}: ${JSON.stringify(report)}`);
      expect(report).toMatchObject(NOTHING_WRONG);
      expect(Math.min(...Object.values(report.kills))).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
