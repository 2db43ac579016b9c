/**
 * Real servers of Redis or Valkey for tests and measurements: data in a temporary folder, ports of their own. The program
 * is that of REDIS_SERVER_PATH, `redis-server` or `valkey-server` on the PATH, or, where APT is, that of the
 * distribution, unpacked into a folder of `node_modules` without a change of the system.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './postgres-server.mjs';

const HOST = '127.0.0.1';
const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache/redis');
/** The server and those of its libraries that a small system lacks. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];
const HELP =
  'Install redis-server (6.2 or later) or valkey-server, or name the program in REDIS_SERVER_PATH; on Debian and Ubuntu, apt-get must reach its packages';
const START_ATTEMPTS = 3;

/** For a process that ends before its servers are stopped. */
const atExit = new Set();
process.once('exit', () => {
  for (const end of atExit) end();
});

const run = (command, args, options) => spawnSync(command, args, { encoding: 'utf8', ...options });

/** A program that runs: its path and environment. */
function usable(file, environment = {}) {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = run(file, ['--version'], { env });
  if (status === 0 && /\bv=\d/.test(stdout)) return { file, env };
  return {
    problem: error?.code === 'ENOENT' ? 'there is none' : (error?.message ?? `${stdout}${stderr}`.trim()),
  };
}

function unpacked(root) {
  const libraries = readdirSync(path.join(root, 'usr/lib')).map((name) => path.join(root, 'usr/lib', name));
  return usable(path.join(root, 'usr/bin/redis-server'), { LD_LIBRARY_PATH: libraries.join(':') });
}

/** Unpacks the packages of the distribution, once for all processes. */
function download() {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(path.join(CACHE, 'download-'));
  try {
    const fetch = () => run('apt-get', ['download', ...PACKAGES], { cwd: folder });
    let fetched = fetch();
    if (fetched.status !== 0 && fetched.error === undefined) {
      // The lists of packages are missing or old, as in a new container.
      run('apt-get', ['update']);
      fetched = fetch();
    }
    if (fetched.status !== 0) return fetched.error?.message ?? fetched.stderr.trim();
    const root = path.join(folder, 'root');
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
      const { status, stderr } = run('dpkg', ['-x', path.join(folder, file), root]);
      if (status !== 0) return `${file}: ${stderr.trim()}`;
    }
    // Another process may have been faster.
    if (!existsSync(path.join(CACHE, 'root'))) renameSync(root, path.join(CACHE, 'root'));
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program of the server, and the environment that it needs. */
export function redisProgram() {
  const named = process.env.REDIS_SERVER_PATH;
  const candidates = named === undefined ? ['redis-server', 'valkey-server'] : [named];
  const found = candidates.map((file) => usable(file));
  const first = found.find(({ file }) => file !== undefined);
  if (first !== undefined) return first;
  if (named !== undefined) throw new Error(`REDIS_SERVER_PATH: ${named} does not run: ${found[0].problem}`);
  const root = path.join(CACHE, 'root');
  const problem = existsSync(root) ? undefined : download();
  const own = existsSync(root) ? unpacked(root) : { problem };
  if (own.file === undefined) throw new Error(`There is no server of Redis: ${own.problem}. ${HELP}.`);
  return own;
}

/**
 * Starts a server that keeps what it acknowledges, also when it is killed: with `appendfsync everysec`, the default, a write to
 * the file waits for up to two seconds while a flush is under way, and clients are answered before it. `kill()` ends it at once,
 * `resume()` repairs its data as docs/memory.md says, and starts it again on its port, `freeze()` and `thaw()` stop and continue
 * the process.
 * @param {{ flags?: readonly string[] }} [options] further flags, such as `--requirepass`
 * @returns {Promise<import('./redis-server.mjs').RedisServer>}
 */
export async function startRedisServer({ flags = [] } = {}) {
  const { file, env } = redisProgram();
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  let port = 0;
  let child;

  async function start() {
    const log = [];
    const fixed = [
      '--bind',
      HOST,
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--aof-load-truncated',
      'no',
      '--daemonize',
      'no',
    ];
    const started = spawn(file, ['--port', String(port), ...fixed, ...flags], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    await new Promise((resolve, reject) => {
      const see = (data) => {
        log.push(String(data));
        if (/ready to accept connections/i.test(log.join(''))) resolve();
      };
      started.stdout.on('data', see);
      started.stderr.on('data', see);
      started.once('error', reject);
      started.once('exit', (code) =>
        reject(new Error(`Redis did not start (${code}):\n${log.slice(-20).join('')}`)),
      );
    });
  }

  /** Another process may take the port between our look and the start of the server. */
  async function startOnFreePort(attemptsLeft) {
    port = await freePort();
    try {
      await start();
    } catch (error) {
      if (attemptsLeft <= 1) throw error;
      await startOnFreePort(attemptsLeft - 1);
    }
  }

  /**
   * A server that is killed as it writes leaves the start of a transaction in its file. With `aof-load-truncated yes` it removes
   * only the last command of it, and applies the others with a later start (https://github.com/valkey-io/valkey/pull/4342); its
   * tool removes the whole.
   */
  function repair() {
    const logs = [
      path.join(folder, 'appendonlydir/appendonly.aof.manifest'),
      path.join(folder, 'appendonly.aof'),
    ];
    const log = logs.find((each) => existsSync(each));
    if (log === undefined) return;
    // The server is its own tool, by the name that it is called with.
    const name = path.basename(file).includes('valkey') ? 'valkey-check-aof' : 'redis-check-aof';
    const { status, stdout, stderr } = run(file, ['--fix', log], { env, argv0: name, input: 'y\n' });
    if (status !== 0) throw new Error(`${name} did not repair ${log} (${status}):\n${stdout}${stderr}`);
  }

  async function end(signal) {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  const endAtExit = () => {
    child?.kill('SIGKILL');
    remove();
  };
  atExit.add(endAtExit);
  const stop = async () => {
    await end('SIGKILL');
    atExit.delete(endAtExit);
    remove();
  };
  try {
    await startOnFreePort(START_ATTEMPTS);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: HOST,
    port,
    url: `redis://${HOST}:${port}`,
    folder,
    kill: () => end('SIGKILL'),
    async resume() {
      repair();
      await start();
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop,
  };
}

/** Starts a server for what stops and kills nothing; or uses the one of TEST_REDIS_URL. */
export async function startRedis() {
  const given = process.env.TEST_REDIS_URL;
  return given === undefined ? startRedisServer() : { url: given, stop: async () => {} };
}
