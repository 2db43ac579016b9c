import { describe, expect, it } from 'vitest';
import { killRuns, NOTHING_WRONG } from '../app/last-known-good/kill-runs.js';
import { removableDatabase } from '../e2e/last-known-good.support.js';
import { fuzzSeed } from '../serve/wire/random.js';
import { DATABASE_KINDS } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const KILLS = 100;
const LIMIT_MS = 3_600_000;

describe.each(DATABASE_KINDS)('the last known good file on %s', (kind) => {
  it(
    `is whole after ${KILLS} sudden deaths of the service`,
    async () => {
      const seed = fuzzSeed();
      console.log(`kill runs on ${kind}, seed ${seed}`);
      const began = performance.now();
      const database = await removableDatabase(kind);
      try {
        const report = await killRuns({ compiled, database, kills: KILLS, seed });
        const seconds = Math.round((performance.now() - began) / 1000);
        console.log(`kill runs on ${kind}: ${seconds} s, ${JSON.stringify(report)}`);
        expect(report).toMatchObject({ ...NOTHING_WRONG, kills: KILLS, blindStarts: KILLS / 4 });
        // On a busy machine many are killed before they save.
        expect(report.revisions).toBeGreaterThan(KILLS / 4);
      } finally {
        await database.drop();
      }
    },
    LIMIT_MS,
  );
});
