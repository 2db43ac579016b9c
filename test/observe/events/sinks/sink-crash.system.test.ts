import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../../../support/databases.js';
import { type CompiledService, compileService } from '../../../support/service-process.js';
import { NOTHING_WRONG, sinkCrashRuns } from './sink-crash-runs.js';

const KILLS = 3;
/** What is stored until then takes longest to compare. */
const LONGEST_RUN_MS = 600;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describeOnSqlite('stored events', (freshDatabaseUrl) => {
  it(`are in listed files once, in Kafka, and at a receiver of HTTP, after ${KILLS} sudden deaths of the service`, async () => {
    const report = await sinkCrashRuns({
      compiled,
      databaseUrl: await freshDatabaseUrl(),
      kills: KILLS,
      longestRunMs: LONGEST_RUN_MS,
    });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.files).toBeGreaterThan(KILLS);
  });
});
