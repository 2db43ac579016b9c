/**
 * Runs every benchmark at a tiny scale, two at a time, and fails if one fails, if a row is missing or not listed, or if a
 * figure is no number. Arguments are names of benchmarks to run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { problemsOf, SMOKES } from './support/smoke-plan.mjs';

/** @import { Smoke } from './support/smoke-plan.mjs' */

const AT_ONCE = 2;
const names = process.argv.slice(2);
const unknown = names.filter((name) => !SMOKES.some((smoke) => smoke.name === name));
if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}`);
const waiting = SMOKES.filter(({ name }) => names.length === 0 || names.includes(name));
const results = mkdtempSync(join(tmpdir(), 'bench-smoke-'));

/** @param {Smoke} smoke */
async function run({ name, environment, flags = [], words = [], ...expected }) {
  const begun = performance.now();
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, `${name}.mjs`), ...words], {
    env: {
      ...process.env,
      BENCH_RESULTS: results,
      // A busy machine is no failure.
      SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code, signal] = await once(child, 'close');
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const problems =
    code === 0
      ? problemsOf(expected, JSON.parse(readFileSync(join(results, `${name}.json`), 'utf8')).rows)
      : [`ended with ${signal ?? code}:\n${output}`];
  console.log(
    `${problems.length === 0 ? 'ok   ' : 'WRONG'} ${name}: ${expected.rows.length} rows, ${seconds} s`,
  );
  for (const problem of problems) console.error(`${name} ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

try {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
    }),
  );
} finally {
  rmSync(results, { recursive: true, force: true });
}
