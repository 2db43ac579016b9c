import { PrismaClient as SqliteClient } from '../../../gen/prisma/sqlite/client.js';
import { createSqliteBulk, type SqliteBulk } from './bulk-sqlite.js';
import { type ClientEvents, type ConnectedClient, clientOptions } from './client.js';
import type { DatabaseLocation } from './database-url.js';
import { createMutex } from './mutex.js';
import { type CheckedPart, quickCheck } from './quick-check.js';
import { createSqliteAdapterFactory } from './sqlite-adapter.js';
import { createSqliteChangeSource } from './sqlite-change-source.js';
import { emptyLog } from './sqlite-connection.js';
import { prepareSqliteFile } from './sqlite-file.js';
import { SqliteFiles } from './sqlite-files.js';
import type { OpenedFiles } from './storage-health/file-check.js';
import { type StorageChecks, StorageMonitor } from './storage-monitor.js';
import {
  broughtUpToDate,
  type DatabaseOptions,
  demandInstanceId,
  eventsOf,
  type OpenedStorage,
  structureOf,
} from './storage-options.js';
import { createWriteProbe } from './write-probe.js';

export async function openSqlite(path: string, options: DatabaseOptions): Promise<OpenedStorage> {
  const location: DatabaseLocation = { kind: 'sqlite', path };
  // What must not be migrated must not be created either.
  const { mode } = structureOf(options);
  if (options.migrate !== false && mode !== 'auto') await broughtUpToDate(location, path, options);
  await prepareSqliteFile(path);
  if (options.migrate !== false) tellUnchecked(await quickCheck(path), path, options);
  const created = mode === 'auto' && (await broughtUpToDate(location, path, options));
  const files = SqliteFiles.open(path);
  let instanceId: string;
  try {
    instanceId = demandInstanceId(files.readInstanceId());
  } catch (error) {
    files.close();
    throw error;
  }
  const events = eventsOf(options, () => monitor);
  const client = createSqliteClient(path, files.opened, events);
  const { bulk } = client;
  if (options.serves === true) bulk.warm();
  const close = async (): Promise<void> => {
    await client.disconnect();
    emptyLog(path, files.opened);
    files.close();
  };
  const checks: StorageChecks = {
    verify: () => files.verify(),
    verifyWritable: () => files.verifyWritable(),
    write: createWriteProbe(bulk, instanceId),
    async rescue() {
      // The connections still have the log, but a restart would not: it contains acknowledged writes.
      if (!files.isLogMissing) return null;
      if (!(await bulk.copyLog())) throw new Error('readers keep the log from being copied');
      return 'the log (-wal) was removed; all that it held was copied into the database; restart the service';
    },
    damageMayPass: false,
  };
  const monitor = new StorageMonitor({ checks, place: path, log: options.failures });
  const openChanges = () => createSqliteChangeSource(path, files.opened);
  return { kind: 'sqlite', client, monitor, instanceId, created, openChanges, close };
}

function tellUnchecked(checked: CheckedPart, path: string, { logger }: DatabaseOptions): void {
  if (checked === 'all') return;
  const message = 'the database is large: its events were not checked for damage, everything else was';
  logger?.warn({ database: path }, message);
}

/** Creates the client for a SQLite file, and no other file at its path. It connects with the first query. */
function createSqliteClient(
  path: string,
  files: OpenedFiles,
  events: ClientEvents,
): ConnectedClient<SqliteBulk> {
  const writing = createMutex();
  let isClosed = false;
  const factory = createSqliteAdapterFactory(path, writing, files);
  const prisma = new SqliteClient(
    clientOptions(
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
    openBulk: () =>
      createSqliteBulk({ path, writing, files, isUrgent: true, onWorkerEnd: events.onConnectionError }),
    async disconnect() {
      isClosed = true;
      await bulk.close();
      await prisma.$disconnect();
    },
  };
}
