/**
 * Runs the tests of events with ClickHouse.
 * Arguments go to vitest, for example a file name. With TEST_RESULTS_FOLDER, the results are written there as JSON.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { startClickHouse } from './clickhouse-server.mjs';

/**
 * The tests in which events are stored or read, and those of ClickHouse alone. What does not depend on the store, and what
 * looks into a database itself, is tested with the databases.
 */
const FILES = [
  'test/observe/events/store',
  'test/e2e/events.test.ts',
  'test/e2e/event-explanations.test.ts',
  'test/e2e/event-statistics.test.ts',
  'test/e2e/event-steps.test.ts',
  'test/e2e/ingest-events.test.ts',
  'test/e2e/publish-events.test.ts',
  'test/e2e/publish-events-killed.system.test.ts',
  'test/e2e/watch-events.test.ts',
  '.clickhouse.ts',
];

const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
/** Beside this process, which reads what the server prints. */
function runVitest(args, url) {
  return new Promise((resolve) => {
    const words = ['run', '--config', 'vitest.clickhouse.config.ts', ...args];
    const environment = { ...process.env, TEST_CLICKHOUSE_URL: url };
    const run = spawn(process.execPath, [vitest, ...words], { stdio: 'inherit', env: environment });
    run.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Options of vitest that write the results into a file. */
function resultsTo(folder) {
  if (folder === undefined) return [];
  return [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${path.join(folder, 'clickhouse.json')}`,
  ];
}

const server = await startClickHouse();
try {
  const only = process.argv.slice(2);
  const files = only.length === 0 ? FILES : only;
  process.exitCode = await runVitest([...files, ...resultsTo(process.env.TEST_RESULTS_FOLDER)], server.url);
} finally {
  await server.stop();
}
