/**
 * ClickHouse for tests and measurements: its engine as a library behind its HTTP protocol (test/clickhouse-server,
 * installed when it is missing).
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SERVER = path.resolve(import.meta.dirname, '../test/clickhouse-server');

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

/** Starts a server on a free port, with empty tables; or uses the one of TEST_CLICKHOUSE_URL. */
export async function startClickHouse() {
  const given = process.env.TEST_CLICKHOUSE_URL;
  if (given !== undefined) return { url: given, stop: async () => {} };
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
