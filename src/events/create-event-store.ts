import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import type { RepeatLog } from '../process/repeat-log.js';
import { createClickHouseEventStore } from './clickhouse/clickhouse-event-store.js';
import type { ObservabilityMeter } from './observability-meter.js';
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

export interface ServiceEventStoreOptions extends EventStoreOptions {
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  readonly meter: Pick<ObservabilityMeter, 'spooledOctets'>;
}

/** The same for the service: what ClickHouse cannot take now waits in files. Throws when these cannot be created. */
export function createServiceEventStore(options: ServiceEventStoreOptions): EventStore {
  const { config, failures, meter } = options;
  const store = createEventStore(options);
  if (config.store === null) return store;
  const spooled = createSpooledStore({ store, ...config.spool, failures });
  meter.spooledOctets = () => spooled.spool.octets;
  return spooled;
}
