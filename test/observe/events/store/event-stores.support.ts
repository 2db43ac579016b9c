import { afterAll } from 'vitest';
import { loadEventStore } from '../../../../src/app/wiring/event-store.js';
import { readConfig } from '../../../../src/contract/config/config.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { CLICKHOUSE_URL, eventStoreOf } from '../../../support/clickhouse.js';
import { describeOnEachDatabase } from '../../../support/databases.js';
import { executeSql } from '../../../support/sql.js';

/** An empty event store, and the database that it needs. */
export interface StoreUnderTest {
  /** Address of the database of the controls. */
  readonly url: string;
  readonly database: Database;
  /** A store of this process with a clock that stands still. `on` is the connection of another process. */
  store(nowMs: number, on?: Database): EventStore;
  /** A connection of another process. */
  replica(): Promise<Database>;
}

/** Defines a suite once for each event store. Every call of `fresh` gives an empty one, and closes the last one. */
export function describeOnEachEventStore(
  name: string,
  suite: (fresh: () => Promise<StoreUnderTest>) => void,
): void {
  describeOnEachDatabase(name, (freshDatabaseUrl) => {
    let last: (StoreUnderTest & { release(): Promise<void> }) | undefined;

    async function open(url: string, database: Database) {
      const opened: { close(): Promise<void> }[] = [];
      const { observability } = readConfig(eventStoreOf(url));
      const createStore = await loadEventStore(observability);
      last = {
        url,
        database,
        store(nowMs, on = database) {
          const store = createStore({ database: on, now: () => nowMs });
          opened.push(store);
          return store;
        },
        async replica() {
          const other = await openDatabase({ url, migrate: false });
          opened.push(other);
          return other;
        },
        async release() {
          for (const one of opened.toReversed()) await one.close();
        },
      };
      return last;
    }

    afterAll(async () => {
      await last?.release();
      await last?.database.close();
    });

    suite(async () => {
      await last?.release();
      if (last !== undefined && CLICKHOUSE_URL === undefined) {
        await executeSql(last.url, EMPTY);
        return open(last.url, last.database);
      }
      await last?.database.close();
      const url = await freshDatabaseUrl();
      return open(url, await openDatabase({ url }));
    });
  });
}

const EMPTY = `
  BEGIN; DELETE FROM "events"; DELETE FROM "event_rollups"; DELETE FROM "event_control_names";
  DELETE FROM "event_namespaces";
  UPDATE "event_log" SET "events" = 0, "pruned_before_us" = -1000000000000000000, "pruning_at_ms" = 0; COMMIT`;
