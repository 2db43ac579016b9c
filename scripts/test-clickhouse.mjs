/**
 * Runs the tests of events with ClickHouse: on the server of TEST_CLICKHOUSE_URL, else on one of its own, which is the
 * engine as a library behind ClickHouse's HTTP protocol (test/clickhouse-server, installed when it is missing).
 * Arguments go to vitest, for example a file name. With TEST_RESULTS_FOLDER, the results are written there as JSON.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SERVER = path.resolve(import.meta.dirname, '../test/clickhouse-server');
/** The tests in which events are stored or read, and those of ClickHouse alone. */
const SUITES = [
  // The deaths of the service are in the second suite, together with those of ClickHouse.
  ['--config', 'vitest.config.ts', 'test/events', '--exclude', '**/events-crash.test.ts'],
  ['--config', 'vitest.clickhouse.config.ts'],
];

/**
 * The versions of the lock file. `npm ci` would demand the engines of all platforms in it, and not every registry has
 * them.
 */
function install() {
  if (existsSync(path.join(SERVER, 'node_modules', 'chdb'))) return;
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', SERVER],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('the test server of ClickHouse could not be installed');
}

/** Starts the server on a free port, with empty tables. */
async function startServer() {
  install();
  const directory = mkdtempSync(path.join(tmpdir(), 'clickhouse-'));
  const server = spawn(process.execPath, [path.join(SERVER, 'server.mjs'), '0', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`the test server of ClickHouse ended with ${code}`)));
    server.stdout.setEncoding('utf8').on('data', (text) => {
      const found = /ready (\d+)/.exec(text);
      if (found !== null) resolve(found[1]);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
/** Beside this process, which reads what the server prints. */
function runVitest(args, url) {
  return new Promise((resolve) => {
    const environment = { ...process.env, TEST_CLICKHOUSE_URL: url };
    const run = spawn(process.execPath, [vitest, 'run', ...args], { stdio: 'inherit', env: environment });
    run.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Options of vitest that write the results of a suite into a file. */
function resultsTo(name) {
  const folder = process.env.TEST_RESULTS_FOLDER;
  if (folder === undefined) return [];
  return ['--reporter=default', '--reporter=json', `--outputFile.json=${path.join(folder, `${name}.json`)}`];
}

const given = process.env.TEST_CLICKHOUSE_URL;
const server = given === undefined ? await startServer() : { url: given, stop: async () => {} };
try {
  const only = process.argv.slice(2);
  for (const [index, suite] of SUITES.entries()) {
    const args = only.length === 0 ? suite : [...suite.slice(0, 2), ...only, '--passWithNoTests'];
    if ((await runVitest([...args, ...resultsTo(`clickhouse-${index}`)], server.url)) !== 0)
      process.exitCode = 1;
  }
} finally {
  await server.stop();
}
