import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../../../test/support/databases.js';
import { type CompiledService, compileService } from '../../../test/support/service-process.js';
import { killRuns, NOTHING_WRONG } from './kill-runs.js';

const KILLS = 3;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describeOnSqlite('events that were acknowledged', (freshUrl) => {
  it(`are stored and counted once after ${KILLS} sudden deaths of the service, ClickHouse and both`, async () => {
    const report = await killRuns({ compiled, databaseUrl: await freshUrl(), kills: KILLS });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.acknowledged).toBeGreaterThan(0);
  });
});
