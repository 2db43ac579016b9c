import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { compiled } from '../../support/service-process.js';
import { applyKillRuns } from './kill-runs.js';

/** `npm run verify:long -- configuration` has 200. */
const KILLS = { sqlite: 3, postgresql: 2 } as const;

describeOnEachDatabase('A service that is killed while it applies sets', (freshDatabaseUrl, kind) => {
  it('has stored all of a set or nothing of it', async () => {
    const url = await freshDatabaseUrl();
    const report = await applyKillRuns({ compiled, url, kills: KILLS[kind], seed: 36, controls: 60 });
    expect(report).toMatchObject({ torn: [], wrong: [], problems: [] });
  });
});
