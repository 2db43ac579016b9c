/**
 * Runs what is too long for every change: test/long. VERIFY_SECONDS sets how long each endurance test takes on each
 * database (30), VERIFY_SEQUENCES how many sequences of commands the fleet test runs on each (2000), SOAK_SECONDS how
 * long the soak takes (600). VERIFY_KILLS is the number of kills of each side while events come in (50),
 * VERIFY_OUTAGES_S for how many seconds the storage is away after each of its kills, by turns (0,0.2,1,0.2,5), and
 * VERIFY_EVENTS how many events a database has that is upgraded (1000000). VERIFY_STOPS is the number of stops under load
 * (50), VERIFY_SCHEDULES the number of random schedules of limits on each store of memory (200). VERIFY_SEED repeats the choices of an earlier run. Arguments go to vitest, for example a file name.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const run = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', 'vitest.long.config.ts', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = run.status ?? 1;
