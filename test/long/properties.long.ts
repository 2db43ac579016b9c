import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const SEED = process.env.VERIFY_SEED ?? String(randomInt(2 ** 31));

/** The files of the main suite whose cases are generated. */
const FILES = ['test', 'packages']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  )
  .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .filter((file) =>
    /fast-check|differential|-laws\.js|store-contract\.cases/.test(readFileSync(file, 'utf8')),
  );

it(`the properties of the main suite hold for the cases of seed ${SEED}`, { timeout: 3_600_000 }, () => {
  const run = spawnSync('npx', ['vitest', 'run', ...FILES], {
    env: { ...process.env, PROPERTY_SEED: SEED },
    stdio: 'inherit',
  });
  expect(run.status).toBe(0);
});
