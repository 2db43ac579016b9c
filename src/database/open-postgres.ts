import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { ConnectedClient } from './client.js';
import { createPostgresClient } from './client-postgres.js';
import { type DatabaseLocation, databasePlace } from './database-url.js';
import { createPostgresChangeSource } from './postgres-change-source.js';
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
