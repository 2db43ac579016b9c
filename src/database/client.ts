import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient as PostgresqlClient } from '../../gen/prisma/postgresql/client.js';
import { type Prisma, PrismaClient as SqliteClient } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from './bulk.js';
import { createPostgresBulk } from './bulk-postgres.js';
import { createSqliteBulk } from './bulk-sqlite.js';
import type { DatabaseLocation } from './database-url.js';
import { failClosed } from './fail-closed-transactions.js';
import { createMutex } from './mutex.js';
import { createPostgresPool, MAX_BULK_CONNECTIONS, MAX_CONNECTIONS } from './postgres-pool.js';
import { createSqliteAdapterFactory } from './sqlite-adapter.js';

/** What queries are made with, inside a transaction and outside: the models, and raw SQL that both databases take. */
export type DbClient = Prisma.TransactionClient;

/** A connected Prisma client, what stands beside it, and what ends both. */
export interface ConnectedClient {
  readonly prisma: SqliteClient;
  readonly bulk: BulkDatabase;
  disconnect(): Promise<void>;
}

/** What to tell about queries and broken connections. */
export interface ClientEvents {
  readonly onQuery?: ((sql: string) => void) | undefined;
  readonly onConnectionError: (error: Error) => void;
}

/** Creates the client for a database. It connects with the first query. */
export function createClient(location: DatabaseLocation, events: ClientEvents): ConnectedClient {
  const log: [{ emit: 'event'; level: 'query' }] = [{ emit: 'event', level: 'query' }];
  const { onQuery } = events;
  const options = {
    log: onQuery === undefined ? [] : log,
    // The other formats print the arguments of a failed call: slow for large ones, and nothing for a log.
    errorFormat: 'minimal' as const,
  };
  if (location.kind === 'sqlite') {
    const writing = createMutex();
    const adapter = failClosed(createSqliteAdapterFactory(location.path, writing));
    const prisma = new SqliteClient({ adapter, ...options });
    if (onQuery !== undefined) prisma.$on('query', ({ query }) => onQuery(query));
    const bulk = createSqliteBulk({
      path: location.path,
      writing,
      onThreadEnd: events.onConnectionError,
    });
    return {
      prisma,
      bulk,
      async disconnect() {
        await bulk.close();
        await prisma.$disconnect();
      },
    };
  }
  const { connectionString } = location;
  const pool = createPostgresPool(connectionString, MAX_CONNECTIONS, events.onConnectionError);
  const bulk = createPostgresBulk(
    createPostgresPool(connectionString, MAX_BULK_CONNECTIONS, events.onConnectionError),
  );
  const adapter = failClosed(new PrismaPg(pool));
  const prisma = new PostgresqlClient({ adapter, ...options });
  if (onQuery !== undefined) prisma.$on('query', ({ query }) => onQuery(query));
  return {
    // The two clients are generated from the same models and differ only in names of types.
    prisma: prisma as unknown as SqliteClient,
    bulk,
    async disconnect() {
      await bulk.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
