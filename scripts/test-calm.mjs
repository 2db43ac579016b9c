/**
 * Shows that no test fails by chance: runs the fast lane five times, each time with its files in another order, beside 0,
 * 2, 2, 6 and 6 busy loops, and the system lane twice, beside 0 and 2. Ends with 0 only when all runs passed.
 *
 *     npm run test:calm -- [--lane fast|system] [--seed N]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Busy loops beside each run. */
const RUNS = { fast: [0, 2, 2, 6, 6], system: [0, 2] };
const COMMANDS = { fast: ['test'], system: ['run', 'test:system', '--', '--all'] };

const { values } = parseArgs({
  options: { lane: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
if (values.lane !== undefined && !(values.lane in RUNS)) {
  console.error(`--lane is fast or system, not "${values.lane}"`);
  process.exit(2);
}

/** @param {'fast' | 'system'} lane @param {number} busy @param {number} seed */
async function passes(lane, busy, seed) {
  // Each ends with this process, however it ends: its input closes.
  const loop =
    'process.stdin.on("end", () => process.exit()).resume(); (function turn() { const end = Date.now() + 50; while (Date.now() < end); setImmediate(turn); })();';
  const loops = Array.from({ length: busy }, () =>
    spawn(process.execPath, ['-e', loop], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  try {
    const env = { ...process.env, TEST_ORDER_SEED: String(seed) };
    const run = spawn('npm', COMMANDS[lane], { cwd: ROOT, stdio: 'inherit', env });
    const [code] = await once(run, 'close');
    return code === 0;
  } finally {
    for (const one of loops) one.kill('SIGKILL');
  }
}

const told = [];
let seed = Number(values.seed);
for (const lane of /** @type {const} */ (['fast', 'system'])) {
  if (values.lane !== undefined && values.lane !== lane) continue;
  for (const busy of RUNS[lane]) {
    const begun = performance.now();
    const passed = await passes(lane, busy, seed);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    told.push(
      `${passed ? 'passed' : 'FAILED'}  ${lane} lane, order ${seed}, ${busy} busy loops, ${seconds} s`,
    );
    if (!passed) process.exitCode = 1;
    seed += 1;
  }
}
console.log(`\n${told.join('\n')}`);
