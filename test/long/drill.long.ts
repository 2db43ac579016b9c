import { describe, expect, it } from 'vitest';
import { runDrill } from '../../scripts/drill/drill.mjs';
import { openPostgresFilesStore } from '../../scripts/drill/postgres-files-store.mjs';
import { openSqliteStore } from '../../scripts/drill/sqlite-store.mjs';
import { compiled } from '../support/service-process.js';

const ENTRIES = 5_000;
const ROUNDS = 3;
const LIMIT_MS = 1_800_000;

describe.each([
  ['sqlite', openSqliteStore],
  ['postgresql', openPostgresFilesStore],
])('A drill on %s', (_name, open) => {
  it(
    `loses nothing acknowledged before the backup, ${ROUNDS} times`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const report = await runDrill({ main: compiled.main, open, entries: ENTRIES });
        console.log(JSON.stringify(report));
        expect(report.problems).toEqual([]);
      }
    },
    LIMIT_MS,
  );
});
