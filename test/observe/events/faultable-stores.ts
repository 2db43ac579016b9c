import { startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { createSqlEventStore } from '../../../src/observe/events/sql/sql-event-store.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { createTestDatabase } from '../../support/databases.js';
import type { FaultableStore } from './fault-runs.js';

/** A store for fault runs, and how to get rid of it. */
export interface OwnStore extends FaultableStore, AsyncDisposable {}

/** Stores with a server or file of their own, by name. */
export const FAULTABLE_STORES: Readonly<Record<'sqlite' | 'postgresql', () => Promise<OwnStore>>> = {
  async sqlite() {
    const database = await createTestDatabase('sqlite');
    return {
      ...sqlStore(database.url),
      kill: undefined,
      restart: async () => {},
      [Symbol.asyncDispose]: () => database.drop(),
    };
  },
  async postgresql() {
    const server = await startPostgresServer({ survivesCrash: true });
    return {
      ...sqlStore(server.url),
      kill: () => server.crash(),
      restart: () => server.resume(),
      [Symbol.asyncDispose]: () => server.stop(),
    };
  },
};

function sqlStore(url: string): Pick<FaultableStore, 'environment' | 'open'> {
  return {
    environment: { DATABASE_URL: url, SERVICE_LOG_JSON: 'true' },
    async open() {
      const database = await openDatabase({ url });
      const store = createSqlEventStore({ database, now: () => Date.now() });
      return {
        ...store,
        async [Symbol.asyncDispose]() {
          await store.close();
          await database.close();
        },
      };
    },
  };
}
