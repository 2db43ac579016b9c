import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient as PostgresqlClient } from '../../../gen/prisma/postgresql/client.js';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createPostgresBulk } from './bulk-postgres.js';
import { type ClientEvents, type ConnectedClient, clientOptions } from './client.js';
import { type DatabaseLocation, databasePlace } from './database-url.js';
import { createPostgresChangeSource } from './postgres-change-source.js';
import {
  createPostgresPool,
  MAX_BULK_CONNECTIONS,
  MAX_CONNECTIONS,
  MAX_OWN_CONNECTIONS,
} from './postgres-pool.js';
import { demandOwnSessions } from './postgres-sessions.js';
import { type StorageChecks, StorageMonitor } from './storage-monitor.js';
import {
  broughtUpToDate,
  type DatabaseOptions,
  demandInstanceId,
  eventsOf,
  type OpenedStorage,
} from './storage-options.js';
import { createWriteProbe } from './write-probe.js';

export async function openPostgres(
  location: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  options: DatabaseOptions,
): Promise<OpenedStorage> {
  const { connectionString } = location;
  const place = databasePlace(location);
  await demandOwnSessions(connectionString);
  const created = await broughtUpToDate(location, place, options);
  const events = eventsOf(options, () => monitor);
  const client = createPostgresClient(connectionString, events);
  const instanceId = await readInstanceId(client);
  const checks: StorageChecks = {
    verify: async () => {},
    verifyWritable: async () => {},
    write: createWriteProbe(client.bulk, instanceId),
    rescue: async () => null,
    damageMayPass: true,
  };
  const monitor = new StorageMonitor({ checks, place, log: options.failures });
  const openChanges = () => createPostgresChangeSource(connectionString, instanceId);
  const { disconnect: close } = client;
  return { kind: 'postgresql', client, monitor, instanceId, created, openChanges, close };
}

async function readInstanceId({ bulk, disconnect }: ConnectedClient): Promise<string> {
  try {
    const query = Prisma.sql`SELECT "instance_id" FROM "service_state" WHERE "id" = 1`;
    const rows = await bulk.read('statistics', query);
    return demandInstanceId(rows[0]?.[0]);
  } catch (error) {
    await disconnect();
    throw error;
  }
}

/** Creates the client for a PostgreSQL database. It connects with the first query. */
function createPostgresClient(connectionString: string, events: ClientEvents): ConnectedClient {
  const createPool = (max: number) => createPostgresPool(connectionString, max, events.onConnectionError);
  const pool = createPool(MAX_CONNECTIONS);
  const bulk = createPostgresBulk(createPool(MAX_BULK_CONNECTIONS));
  const prisma = new PostgresqlClient(clientOptions(new PrismaPg(pool), events));
  if (events.onQuery !== undefined) prisma.$on('query', ({ query }) => events.onQuery?.(query));
  return {
    // The two clients are generated from the same models and differ only in type names.
    prisma: prisma as unknown as ConnectedClient['prisma'],
    bulk,
    openBulk: () => createPostgresBulk(createPool(MAX_OWN_CONNECTIONS)),
    async disconnect() {
      await bulk.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
