import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import type { RepeatLog } from '../process/repeat-log.js';
import { createClickHouseEventStore } from './clickhouse/clickhouse-event-store.js';
import { createSpooledStore } from './spool/spooled-store.js';
import { createSqlEventStore } from './sql/sql-event-store.js';
import type { EventStore } from './store/event-store.js';

export interface EventStoreOptions {
  readonly config: Config['observability'];
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The event store as configured, without a spool: for commands. */
export function createEventStore({ config, database, now }: EventStoreOptions): EventStore {
  if (config.store === null) return createSqlEventStore({ database, now });
  return createClickHouseEventStore({ location: config.store, database, now });
}

/** The same for the service: what ClickHouse cannot take now waits in files. Throws when these cannot be created. */
export function createServiceEventStore(
  options: EventStoreOptions & { readonly failures: Pick<RepeatLog, 'failed' | 'told'> },
): EventStore {
  const store = createEventStore(options);
  const { store: location, spool } = options.config;
  return location === null ? store : createSpooledStore({ store, ...spool, failures: options.failures });
}
