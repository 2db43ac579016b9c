import { openSqliteConnection } from '../../src/database/sqlite-connection.js';
import { killIfThere, workerOf, workersOf } from '../cluster/support/workers.js';
import { createTestDatabase } from '../support/databases.js';
import { connectHttp2, type Http2RestClient } from '../support/http2-rest-client.js';
import { compileService, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ENVIRONMENT, type Fleet, type Replica } from './replicas.js';

/** How long a worker may take to be replaced, in milliseconds: far more than it needs. */
const REPLACEMENT_MS = 60_000;

/** A connection, and the worker that holds it. */
interface Line {
  readonly client: Http2RestClient;
  readonly worker: number;
}

/** Two workers of one service over one SQLite file. Each is reached over a connection that is known to be to it. */
export async function startWorkers(): Promise<Fleet> {
  const database = await createTestDatabase('sqlite');
  const compiled = await compileService();
  const service = await spawnService(compiled, {
    environment: { ...ENVIRONMENT, SERVICE_WORKERS: '2', DATABASE_URL: database.url },
  });
  const url = await service.listening();
  const lines: [Line | undefined, Line | undefined] = [undefined, undefined];
  for (const index of [0, 1] as const) lines[index] = await lineToAnother(service, url, lines);
  const reader = openSqliteConnection(database.url.replace(/^file:/, ''), 'reader');
  const one = (sql: string, values: string[] = []): number | undefined => {
    const [row] = reader.execute(sql, values).rows;
    return row && Number(row[0]);
  };

  function worker(index: 0 | 1): Replica {
    const lineNow = (): Line => {
      const line = lines[index];
      if (line === undefined) throw new Error('the worker is being replaced');
      return line;
    };
    return {
      index,
      call: (...words) => lineNow().client.call(...words),
      network: 'clear',
      async setNetwork() {},
      cut() {},
      hearNotifications() {},
      kill: () => killIfThere(lineNow().worker),
      async restart() {
        const { client, worker: old } = lineNow();
        killIfThere(old, 'SIGTERM');
        client.close();
        lines[index] = undefined;
        await until(
          () => workersOf(service),
          (workers) => workers.length === 2 && !workers.includes(old),
          REPLACEMENT_MS,
        );
        lines[index] = await lineToAnother(service, url, lines);
      },
      async stop() {},
    };
  }

  return {
    kind: 'sqlite',
    replicas: [worker(0), worker(1)],
    stored: async () => one('SELECT "revision" FROM "service_state" WHERE "id" = 1') ?? 0,
    idOf: async (table, name) => one(`SELECT "id" FROM "${table}" WHERE "name" = ?`, [name]),
    async stop() {
      reader.close();
      for (const line of lines) line?.client.close();
      service.process.kill('SIGTERM');
      const { code } = await service.ended;
      await service.dispose();
      await compiled.remove();
      await database.drop();
      if (code !== 0) throw new Error(`the service ended with ${code}:\n${service.stdout()}`);
    },
  };
}

/** Connects until the connection is to a worker that has none. They are dealt out in turn, to those that are ready. */
function lineToAnother(
  service: ServiceProcess,
  url: string,
  lines: readonly (Line | undefined)[],
): Promise<Line> {
  const taken = new Set(lines.map((line) => line?.worker));
  return until<Line | undefined>(
    async () => {
      const client = await connectHttp2(url);
      // One that is about to end may get the connection still.
      const answered = await client.call('GET', '/ready').catch(() => undefined);
      const worker = answered && (await workerOf(service, client.localPort));
      if (worker !== undefined && !taken.has(worker)) return { client, worker };
      client.close();
      return undefined;
    },
    (line) => line !== undefined,
    REPLACEMENT_MS,
  ) as Promise<Line>;
}
