import type { Config } from '../../contract/config/config.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import type { ObservabilityMeter } from './observability-meter.js';
import { createSqlEventStore } from './sql/sql-event-store.js';
import type { EventStore } from './store/event-store.js';

export interface EventStoreOptions {
  readonly config: Config['observability'];
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What creates the event store as configured, without a spool. ClickHouse is not loaded where it is not used. */
export async function loadEventStore({
  store: location,
  takeoverDelayMs,
}: Config['observability']): Promise<(parts: Omit<EventStoreOptions, 'config'>) => EventStore> {
  if (location === null) return (parts) => createSqlEventStore({ ...parts, takeoverDelayMs });
  const { createClickHouseEventStore } = await import('./clickhouse/clickhouse-event-store.js');
  return (parts) => createClickHouseEventStore({ ...parts, location });
}

/** The event store as configured, without a spool: for commands. */
export async function createEventStore({ config, database, now }: EventStoreOptions): Promise<EventStore> {
  return (await loadEventStore(config))({ database, now });
}

export interface ServiceEventStoreOptions extends EventStoreOptions {
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  readonly meter: Pick<ObservabilityMeter, 'spooledOctets'>;
}

/** The same for the service: what ClickHouse cannot take now waits in files. Rejects when these cannot be created. */
export async function createServiceEventStore(options: ServiceEventStoreOptions): Promise<EventStore> {
  const { config, failures, meter } = options;
  const store = await createEventStore(options);
  if (config.store === null) return store;
  const { createSpooledStore } = await import('./spool/spooled-store.js');
  const spooled = createSpooledStore({ store, ...config.spool, failures });
  meter.spooledOctets = () => spooled.spool.octets;
  return spooled;
}
