import { expect, it } from 'vitest';
import { killRuns } from '../observe/audit/kill-runs.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const KILLS = 100;
const LIMIT_MS = 1_800_000;

describeOnEachDatabase('the audit log of a service that is killed a hundred times', (freshDatabaseUrl) => {
  it(
    'is intact, and has one entry for each revision and each control',
    async () => {
      const seed = fuzzSeed();
      const report = await killRuns({ compiled, url: await freshDatabaseUrl(), kills: KILLS, seed });
      console.log({ seed, ...report });
      expect(report).toMatchObject({ problems: [], revisions: [], controls: [], lost: [] });
      expect(report.acknowledged).toBeGreaterThan(KILLS);
    },
    LIMIT_MS,
  );
});
