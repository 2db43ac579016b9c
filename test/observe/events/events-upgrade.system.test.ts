import { afterAll, beforeAll, expect, it } from 'vitest';
import { caseSeed, Random } from '../../serve/wire/random.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { type CompiledService, compileService } from '../../support/service-process.js';
import { NOTHING_WRONG, upgradeRun } from './upgrade-runs.js';

/** `npm run verify:long -- events-upgrade` has a million. */
const EVENTS = 5_000;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describeOnEachEmptyDatabase('a database of the last release', (freshDatabaseUrl, kind) => {
  it(`with ${EVENTS} events is upgraded while events come in and steps are evaluated`, async () => {
    const report = await upgradeRun({
      compiled,
      kind,
      databaseUrl: await freshDatabaseUrl(),
      events: EVENTS,
      days: 1,
      loadMs: 500,
      random: new Random(caseSeed()),
    });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.evaluations).toBeGreaterThan(0);
    expect(report.acknowledged).toBeGreaterThan(0);
  });
});
