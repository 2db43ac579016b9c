import { expect, it } from 'vitest';
import { applyKillRuns } from '../manage/configuration/kill-runs.js';
import { checkSetLaws } from '../manage/configuration/set-laws.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';
import { suiteService } from '../support/service-suite.js';

const KILLS = 200;
const CASES = 500;
const LIMIT_MS = 3_600_000;

describeOnEachDatabase('configurations', (freshDatabaseUrl) => {
  const { call } = suiteService(async () => ({ DATABASE_URL: await freshDatabaseUrl() }));

  it(
    'are stored whole or not at all by a service that is killed two hundred times',
    async () => {
      const seed = fuzzSeed();
      const url = await freshDatabaseUrl();
      const report = await applyKillRuns({ compiled, url, kills: KILLS, seed, controls: 400 });
      console.log({ seed, ...report });
      expect(report).toMatchObject({ torn: [], wrong: [], problems: [] });
    },
    LIMIT_MS,
  );

  it(`are what was applied last, for ${CASES} pairs of sets`, () => checkSetLaws(call, CASES), LIMIT_MS);
});
