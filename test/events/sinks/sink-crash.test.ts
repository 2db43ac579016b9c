import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../../support/databases.js';
import { type CompiledService, compileService } from '../../support/service-process.js';
import { NOTHING_WRONG, sinkCrashRuns } from './sink-crash-runs.js';

const KILLS = 3;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describeOnSqlite('stored events', (freshDatabaseUrl) => {
  it(`are in listed files once, and in Kafka, after ${KILLS} sudden deaths of the service`, async () => {
    const report = await sinkCrashRuns({ compiled, databaseUrl: await freshDatabaseUrl(), kills: KILLS });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.files).toBeGreaterThan(KILLS);
  });
});
