import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory, SqlQueryable } from '@prisma/driver-adapter-utils';
import { PrismaClient as PostgresqlClient } from '../../gen/prisma/postgresql/client.js';
import { type Prisma, PrismaClient as SqliteClient } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from './bulk.js';
import { createPostgresBulk } from './bulk-postgres.js';
import { createSqliteBulk, type SqliteBulk } from './bulk-sqlite.js';
import { failClosed } from './fail-closed-transactions.js';
import { createMutex } from './mutex.js';
import { createPostgresPool, MAX_BULK_CONNECTIONS, MAX_CONNECTIONS } from './postgres-pool.js';
import { createSqliteAdapterFactory } from './sqlite-adapter.js';
import type { OpenedFiles } from './storage-health/file-check.js';

/** Client for queries, inside a transaction and outside: the models, and raw SQL valid for both databases. */
export type DbClient = Prisma.TransactionClient;

/** A connected Prisma client, its bulk part, and the function that closes both. */
export interface ConnectedClient<Bulk extends BulkDatabase = BulkDatabase> {
  readonly prisma: SqliteClient;
  readonly bulk: Bulk;
  disconnect(): Promise<void>;
}

/** Receivers of queries, failed statements and broken connections. */
export interface ClientEvents {
  readonly onQuery?: ((sql: string) => void) | undefined;
  readonly onFailure: (error: unknown) => void;
  readonly onConnectionError: (error: Error) => void;
}

/** Creates the client for a SQLite file, and no other file at its path. It connects with the first query. */
export function createSqliteClient(
  path: string,
  files: OpenedFiles,
  events: ClientEvents,
): ConnectedClient<SqliteBulk> {
  const writing = createMutex();
  let isClosed = false;
  const factory = createSqliteAdapterFactory(path, writing, files);
  const prisma = new SqliteClient(
    options(
      {
        ...factory,
        async connect() {
          // Prisma would reconnect for a later query.
          if (isClosed) throw new Error('the database is closed');
          return factory.connect();
        },
      },
      events,
    ),
  );
  if (events.onQuery !== undefined) prisma.$on('query', ({ query }) => events.onQuery?.(query));
  const bulk = createSqliteBulk({ path, writing, files, onWorkerEnd: events.onConnectionError });
  return {
    prisma,
    bulk,
    async disconnect() {
      isClosed = true;
      await bulk.close();
      await prisma.$disconnect();
    },
  };
}

/** Creates the client for a PostgreSQL database. It connects with the first query. */
export function createPostgresClient(connectionString: string, events: ClientEvents): ConnectedClient {
  const createPool = (max: number) => createPostgresPool(connectionString, max, events.onConnectionError);
  const pool = createPool(MAX_CONNECTIONS);
  const bulk = createPostgresBulk(createPool(MAX_BULK_CONNECTIONS));
  const prisma = new PostgresqlClient(options(new PrismaPg(pool), events));
  if (events.onQuery !== undefined) prisma.$on('query', ({ query }) => events.onQuery?.(query));
  return {
    // The two clients are generated from the same models and differ only in type names.
    prisma: prisma as unknown as SqliteClient,
    bulk,
    async disconnect() {
      await bulk.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

function options(factory: SqlDriverAdapterFactory, { onQuery, onFailure }: ClientEvents) {
  const log: [{ emit: 'event'; level: 'query' }] = [{ emit: 'event', level: 'query' }];
  return {
    adapter: failClosed(observed(factory, onFailure)),
    log: onQuery === undefined ? [] : log,
    // The other formats print the arguments of a failed call: slow for large ones, and useless in a log.
    errorFormat: 'minimal' as const,
  };
}

/** Calls `onFailure` for every statement that fails, inside transactions and outside. */
export function observed(
  factory: SqlDriverAdapterFactory,
  onFailure: (error: unknown) => void,
): SqlDriverAdapterFactory {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  const observe = <Queryable extends SqlQueryable>(queryable: Queryable): Queryable => {
    const queryRaw = queryable.queryRaw.bind(queryable);
    const executeRaw = queryable.executeRaw.bind(queryable);
    queryable.queryRaw = (query) => told(queryRaw(query));
    queryable.executeRaw = (query) => told(executeRaw(query));
    return queryable;
  };
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = observe(await told(factory.connect()));
      const startTransaction = adapter.startTransaction.bind(adapter);
      adapter.startTransaction = async (isolationLevel) =>
        observe(await told(startTransaction(isolationLevel)));
      return adapter;
    },
  };
}
