import { workerOf } from '../app/cluster/support/workers.js';
import { openRestConnection, type RestClient, type RestConnection } from '../support/http.js';
import type { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';

/** Connections to a worker: a command makes a change, asks for the health and evaluates three times, all at once. */
const CONNECTIONS = 6;

/** The way to one worker, over connections that are known to be to it. */
export interface WorkerLine {
  readonly worker: number;
  readonly call: RestClient;
  close(): void;
}

/** Connects until there are enough connections to one worker that is none of `others`. They are dealt out in turn. */
export async function lineToWorker(
  service: ServiceProcess,
  url: string,
  others: readonly (number | undefined)[],
): Promise<WorkerLine> {
  const connections: RestConnection[] = [];
  let found: number | undefined;
  await until(
    async () => {
      const connection = await openRestConnection(url);
      // One that is about to end may get the connection still.
      const answered = await connection.call('GET', '/ready').catch(() => undefined);
      const worker = answered && (await workerOf(service, connection.localPort));
      const isWanted = worker !== undefined && !others.includes(worker) && (found ?? worker) === worker;
      if (!isWanted) return connection.close();
      found = worker;
      connections.push(connection);
    },
    () => connections.length === CONNECTIONS,
  );
  const free = [...connections];
  return {
    worker: found ?? 0,
    async call(...words) {
      // Those that rested longest first, so that none is closed because it was not used.
      const connection = free.shift();
      if (connection === undefined) throw new Error('more calls at the same time than connections');
      try {
        return await connection.call(...words);
      } finally {
        free.push(connection);
      }
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}
