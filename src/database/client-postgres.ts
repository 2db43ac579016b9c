import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient as PostgresqlClient } from '../../gen/prisma/postgresql/client.js';
import { createPostgresBulk } from './bulk-postgres.js';
import { type ClientEvents, type ConnectedClient, clientOptions } from './client.js';
import { createPostgresPool, MAX_BULK_CONNECTIONS, MAX_CONNECTIONS } from './postgres-pool.js';

/** Creates the client for a PostgreSQL database. It connects with the first query. */
export function createPostgresClient(connectionString: string, events: ClientEvents): ConnectedClient {
  const createPool = (max: number) => createPostgresPool(connectionString, max, events.onConnectionError);
  const pool = createPool(MAX_CONNECTIONS);
  const bulk = createPostgresBulk(createPool(MAX_BULK_CONNECTIONS));
  const prisma = new PostgresqlClient(clientOptions(new PrismaPg(pool), events));
  if (events.onQuery !== undefined) prisma.$on('query', ({ query }) => events.onQuery?.(query));
  return {
    // The two clients are generated from the same models and differ only in type names.
    prisma: prisma as unknown as ConnectedClient['prisma'],
    bulk,
    async disconnect() {
      await bulk.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
