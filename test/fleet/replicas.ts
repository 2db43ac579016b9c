import pg from 'pg';
import { createTestDatabase, type DatabaseKind } from '../support/databases.js';
import { type RestClient, restClient } from '../support/rest-client.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

/** Short, so that sequences with a partition are quick. */
const ENVIRONMENT = { SERVICE_MIN_REVISION_WAIT_SECONDS: '0.1', SERVICE_LOG_LEVEL: 'error' };

/** What lies between a replica and its database. */
export type Network =
  | 'clear'
  /** Connections break and new ones are refused. */
  | 'broken'
  /** Nothing passes, and nobody is told. */
  | 'silent';

/** One process of the fleet, with a network of its own to the database. */
export interface Replica {
  readonly index: number;
  readonly call: RestClient;
  readonly network: Network;
  setNetwork(network: Network): Promise<void>;
  /** Breaks open connections; new ones work. */
  cut(): void;
  /** Passes notifications on or not, over new connections, for which the old ones are broken. */
  hearNotifications(heard: boolean): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Two replicas over one database. */
export interface Fleet {
  readonly kind: DatabaseKind;
  readonly replicas: readonly [Replica, Replica];
  /**
   * What the database says, without the network of a replica; once no transaction is under way that has a revision.
   * On PostgreSQL only.
   */
  stored(): Promise<number>;
  /** The id of what has this name, if it is stored. On PostgreSQL only. */
  idOf(table: 'controls' | 'policies', name: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

export async function startFleet(kind: DatabaseKind): Promise<Fleet> {
  const database = await createTestDatabase(kind);
  const first = await startReplica(0, kind, database.url);
  const replicas = [first, await startReplica(1, kind, database.url)] as const;
  const direct = kind === 'postgresql' ? new pg.Client({ connectionString: database.url }) : undefined;
  await direct?.connect();
  async function one(sql: string, values: unknown[] = []): Promise<number | undefined> {
    if (direct === undefined) throw new Error('without a network every outcome is known');
    const { rows } = await direct.query<[unknown]>({ text: sql, values, rowMode: 'array' });
    return rows[0] && Number(rows[0][0]);
  }
  return {
    kind,
    replicas: [...replicas],
    async stored() {
      // The row is what every mutation locks first, so whoever may still commit holds it.
      return (await one('SELECT "revision" FROM "service_state" WHERE "id" = 1 FOR UPDATE')) ?? 0;
    },
    idOf: (table, name) => one(`SELECT "id" FROM "${table}" WHERE "name" = $1`, [name]),
    async stop() {
      await direct?.end();
      for (const replica of replicas) await replica.stop();
      await database.drop();
    },
  };
}

async function startReplica(index: number, kind: DatabaseKind, databaseUrl: string): Promise<Replica> {
  const proxy: TcpProxy | undefined = kind === 'postgresql' ? await startTcpProxy(databaseUrl) : undefined;
  const start = () => startService({ ...ENVIRONMENT, DATABASE_URL: proxy?.url ?? databaseUrl });
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
      await proxy?.set(weather[next]);
      if (next === 'broken') proxy?.cut();
    },
    cut: () => proxy?.cut(),
    hearNotifications(next) {
      if (next === heard) return;
      heard = next;
      proxy?.notifications(next ? 1 : 0);
      proxy?.cut();
    },
    async restart() {
      await service.stop();
      service = await start();
      call = restClient(service.url);
    },
    async stop() {
      await proxy?.set('clear');
      await service.stop();
      await proxy?.close();
    },
  };
}
