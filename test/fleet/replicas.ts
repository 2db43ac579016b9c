import pg from 'pg';
import { createTestDatabase, type DatabaseKind } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

/** The wait is short, so that sequences with a partition are quick. */
export const ENVIRONMENT = {
  SERVICE_MIN_REVISION_WAIT_SECONDS: '0.1',
  OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '3600',
};

/** What lies between a replica and its database. */
export type Network =
  | 'clear'
  /** Connections break and new ones are refused. */
  | 'broken'
  /** Nothing passes, without a notice. */
  | 'silent';

/** One of the two that serve, with a network of its own to the database if that is PostgreSQL. */
export interface Replica {
  readonly index: number;
  /** Rejects when the connection breaks. */
  readonly call: RestClient;
  readonly network: Network;
  setNetwork(network: Network): Promise<void>;
  /** Breaks open connections to the database; new ones work. On PostgreSQL only. */
  cut(): void;
  /** Passes notifications on or not, over new connections, for which the old ones are broken. On PostgreSQL only. */
  hearNotifications(heard: boolean): void;
  /** Kills the process that serves, in the midst of what it does. On SQLite only. */
  kill(): void;
  /** Replaces the process that serves; one that runs still is told to stop. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Two that serve over one database. */
export interface Fleet {
  readonly kind: DatabaseKind;
  readonly replicas: readonly [Replica, Replica];
  /** What the database says, behind the back of the replicas, once no transaction is under way that has a revision. */
  stored(): Promise<number>;
  /** The id of what has this name, if it is stored. */
  idOf(table: 'controls' | 'policies', name: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Two replicas over one PostgreSQL database, each with a network of its own. */
export async function startReplicas(): Promise<Fleet> {
  const database = await createTestDatabase('postgresql');
  const first = await startReplica(0, database.url);
  const replicas = [first, await startReplica(1, database.url)] as const;
  const direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  async function one(text: string, values: unknown[] = []): Promise<number | undefined> {
    const { rows } = await direct.query<[unknown]>({ text, values, rowMode: 'array' });
    return rows[0] && Number(rows[0][0]);
  }
  return {
    kind: 'postgresql',
    replicas,
    async stored() {
      // The row is what every mutation locks first, so a process that may still commit holds it.
      return (await one('SELECT "revision" FROM "service_state" WHERE "id" = 1 FOR UPDATE')) ?? 0;
    },
    idOf: (table, name) => one(`SELECT "id" FROM "${table}" WHERE "name" = $1`, [name]),
    async stop() {
      await direct.end();
      for (const replica of replicas) await replica.stop();
      await database.drop();
    },
  };
}

async function startReplica(index: number, databaseUrl: string): Promise<Replica> {
  const proxy = await startTcpProxy(databaseUrl);
  const environment = { ...ENVIRONMENT, SERVICE_LOG_LEVEL: 'error', DATABASE_URL: proxy.url };
  const start = () => startService(environment, { keepsLines: false });
  let service: TestService = await start();
  let call = restClient(service.url);
  let network: Network = 'clear';
  let heard = true;
  const weather = { clear: 'clear', broken: 'refuse', silent: 'pause' } as const;
  return {
    index,
    get call() {
      return call;
    },
    get network() {
      return network;
    },
    async setNetwork(next) {
      network = next;
      await proxy.set(weather[next]);
      if (next === 'broken') proxy.cut();
    },
    cut: () => proxy.cut(),
    hearNotifications(next) {
      if (next === heard) return;
      heard = next;
      proxy.notifications(next ? 1 : 0);
      proxy.cut();
    },
    kill() {
      throw new Error('these replicas are in the process of the test');
    },
    async restart() {
      await service.stop();
      service = await start();
      call = restClient(service.url);
    },
    async stop() {
      await proxy.set('clear');
      await service.stop();
      await proxy.close();
    },
  };
}
