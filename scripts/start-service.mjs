/**
 * Starts the built service as a process of its own, on a free port and a fresh SQLite file unless told otherwise.
 * For the demo, the benchmarks and checks; `npm run build` must have run.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', 'dist', 'src', 'main.js');
/** Only a service that never starts takes longer, even on a busy machine; in milliseconds. */
const START_LIMIT_MS = 300_000;

/**
 * @param {Record<string, string>} environment
 * @returns {Promise<{ url: string, log: string[], pid: number, stop(): Promise<void> }>}
 */
export async function startServiceProcess(environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: {
      ...process.env,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      SERVICE_LOG_JSON: 'true',
      DATABASE_URL: `file:${join(folder, 'service.db')}`,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  /** @type {string[]} */
  const log = [];
  const exited = new Promise((resolve) => child.once('exit', resolve));
  /** @type {Promise<string>} */
  const address = new Promise((resolve, reject) => {
    let rest = '';
    const timer = setTimeout(() => reject(new Error('the service did not start in time')), START_LIMIT_MS);
    exited.then((code) => reject(new Error(`the service ended with code ${code}:\n${log.join('\n')}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        log.push(line);
        const found = addressIn(line);
        if (found === undefined) continue;
        clearTimeout(timer);
        resolve(found);
      }
    });
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    const url = await address;
    return {
      url,
      log,
      pid: child.pid ?? 0,
      async stop() {
        child.kill('SIGTERM');
        await exited;
        process.off('exit', kill);
        remove();
      },
    };
  } catch (error) {
    kill();
    remove();
    throw error;
  }
}

/**
 * @param {string} line
 * @returns {string | undefined}
 */
function addressIn(line) {
  try {
    return JSON.parse(line).address;
  } catch {
    return undefined;
  }
}
