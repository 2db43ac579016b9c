import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { type CompiledService, compileService } from '../../support/service-process.js';
import { crashRuns, NOTHING_WRONG } from './crash-runs.js';

const KILLS = 3;
/** What is stored until then takes longest to compare. */
const LONGEST_RUN_MS = 500;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describeOnEachDatabase('events that were acknowledged', (freshDatabaseUrl) => {
  it(`are stored once, and counted, after ${KILLS} sudden deaths of the service`, async () => {
    const report = await crashRuns({
      compiled,
      databaseUrl: await freshDatabaseUrl(),
      kills: KILLS,
      longestRunMs: LONGEST_RUN_MS,
    });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.acknowledged).toBeGreaterThan(0);
  });
});
