import { openSqliteConnection } from '../../src/storage/database/sqlite-connection.js';
import { killIfThere, workersOf } from '../app/cluster/support/workers.js';
import { createTestDatabase } from '../support/databases.js';
import { compiled, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ENVIRONMENT, type Fleet, type Replica } from './replicas.js';
import { lineToWorker, type WorkerLine } from './worker-line.js';

/** Two workers of one service over one SQLite file. Each is reached over connections that are known to be to it. */
export async function startWorkers(): Promise<Fleet> {
  const database = await createTestDatabase('sqlite');
  const service = await spawnService(compiled, {
    environment: { ...ENVIRONMENT, SERVICE_WORKERS: '2', DATABASE_URL: database.url },
  });
  const url = await service.listening();
  const lines: [WorkerLine | undefined, WorkerLine | undefined] = [undefined, undefined];
  const nextLine = () =>
    lineToWorker(
      service,
      url,
      lines.map((line) => line?.worker),
    );
  for (const index of [0, 1] as const) lines[index] = await nextLine();
  const reader = openSqliteConnection(database.url.replace(/^file:/, ''), 'reader');
  const one = (sql: string, values: string[] = []): number | undefined => {
    const [row] = reader.execute(sql, values).rows;
    return row && Number(row[0]);
  };

  function worker(index: 0 | 1): Replica {
    const lineNow = (): WorkerLine => {
      const line = lines[index];
      if (line === undefined) throw new Error('the worker is being replaced');
      return line;
    };
    return {
      index,
      call: (...words) => lineNow().call(...words),
      network: 'clear',
      async setNetwork() {},
      cut() {},
      hearNotifications() {},
      kill: () => killIfThere(lineNow().worker),
      async restart() {
        const line = lineNow();
        const { worker: old } = line;
        killIfThere(old, 'SIGTERM');
        line.close();
        lines[index] = undefined;
        await until(
          () => workersOf(service),
          (workers) => workers.length === 2 && !workers.includes(old),
        );
        lines[index] = await nextLine();
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
      for (const line of lines) line?.close();
      service.process.kill('SIGTERM');
      const { code } = await service.ended;
      await service.dispose();
      await database.drop();
      if (code !== 0) throw new Error(`the service ended with ${code}:\n${service.stdout()}`);
    },
  };
}
