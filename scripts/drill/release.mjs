/** A built release of the service, run again and again on one port, in one folder and on one database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { freePort } from '../postgres-server.mjs';

/** Limits nothing but a start that never succeeds, in milliseconds. */
const START_LIMIT_MS = 300_000;
const POLL_MS = 50;

/**
 * @param {{ main: string, folder: string, databaseUrl: string }} options `main` is the main module of the release
 * @returns {Promise<import('./drill.mjs').Release>}
 */
export async function createRelease({ main, folder, databaseUrl }) {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_LOG_JSON: 'true',
    SERVICE_LOG_LEVEL: 'warn',
    // A busy machine is no matter of the drill.
    SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
  };

  function run(words) {
    const child = spawn(process.execPath, [main, ...words], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        written[name] += text;
      });
    }
    return { child, written, ended: once(child, 'close') };
  }

  async function isReady() {
    const reply = await fetch(`${url}/ready`).catch(() => null);
    await reply?.body?.cancel();
    return reply?.status === 200;
  }

  return {
    url,
    async start() {
      const { child, written, ended } = run([]);
      const kill = () => child.kill('SIGKILL');
      process.once('exit', kill);
      const end = async (signal) => {
        child.kill(signal);
        await ended;
        process.off('exit', kill);
      };
      const deadline = performance.now() + START_LIMIT_MS;
      while (!(await isReady())) {
        if (child.exitCode !== null || performance.now() > deadline) {
          await end('SIGKILL');
          throw new Error(`the service did not start:\n${written.stdout}${written.stderr}`);
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      return { kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
    },
    async command(...words) {
      const { written, ended } = run(words);
      const [code] = await ended;
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${written.stderr.trim()}`);
      return written.stdout.trim();
    },
  };
}
