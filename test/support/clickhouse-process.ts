import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

const SERVER = path.resolve(import.meta.dirname, '../clickhouse-server/server.mjs');

/** A ClickHouse server in a process of its own, which can be killed and started again with what it has stored. */
export interface ClickHouseProcess {
  /** Host and port, which stay the same. */
  readonly host: string;
  start(): Promise<void>;
  /** Ends it at once, whatever it is doing. */
  kill(): Promise<void>;
}

/** Starts a server whose tables are in a directory. */
export async function startClickHouse(directory: string): Promise<ClickHouseProcess> {
  let port = '0';
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [SERVER, port, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    server = started;
    port = await new Promise((resolve, reject) => {
      started.once('exit', (code, signal) => reject(new Error(`ClickHouse ended: ${code ?? signal}`)));
      started.stdout.setEncoding('utf8').on('data', (text: string) => {
        const found = /ready (\d+)/.exec(text);
        if (found?.[1] !== undefined) resolve(found[1]);
      });
    });
  }

  await start();
  return {
    get host() {
      return `127.0.0.1:${port}`;
    },
    start,
    async kill() {
      const ended = new Promise((resolve) => server?.once('exit', resolve));
      server?.kill('SIGKILL');
      await ended;
    },
  };
}
