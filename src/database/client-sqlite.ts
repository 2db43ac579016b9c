import { PrismaClient as SqliteClient } from '../../gen/prisma/sqlite/client.js';
import { createSqliteBulk, type SqliteBulk } from './bulk-sqlite.js';
import { type ClientEvents, type ConnectedClient, clientOptions } from './client.js';
import { createMutex } from './mutex.js';
import { createSqliteAdapterFactory } from './sqlite-adapter.js';
import type { OpenedFiles } from './storage-health/file-check.js';

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
    async disconnect() {
      isClosed = true;
      await bulk.close();
      await prisma.$disconnect();
    },
  };
}
