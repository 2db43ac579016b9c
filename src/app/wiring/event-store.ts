import type { Config } from '../../contract/config/config.js';
import { demandPackage } from '../../contract/config/demanded-package.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { ObservabilityMeter } from '../../observe/events/observability-meter.js';
import { createSqlEventStore } from '../../observe/events/sql/sql-event-store.js';
import type { EventStore } from '../../observe/events/store/event-store.js';
import type { Database } from '../../storage/database/database.js';
import { PACKAGE_LOADERS, type PackageLoaders } from './package-loaders.js';

export interface EventStoreOptions {
  readonly config: Config['observability'];
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The package for ClickHouse; the one of the repository by default. */
  readonly load?: PackageLoaders['events-clickhouse'];
}

/** What creates the event store as configured, without a spool. ClickHouse is not loaded where it is not used. */
export async function loadEventStore(
  { store: location, takeoverDelayMs }: Config['observability'],
  load = PACKAGE_LOADERS['events-clickhouse'],
): Promise<(parts: Omit<EventStoreOptions, 'config' | 'load'>) => EventStore> {
  if (location === null) return (parts) => createSqlEventStore({ ...parts, takeoverDelayMs });
  const { createClickHouseEventStore } = await demandPackage('SERVICE_EVENT_STORE', {
    name: 'events-clickhouse',
    load,
  });
  return (parts) => createClickHouseEventStore({ ...parts, location });
}

/** The event store as configured, without a spool: for commands. */
export async function createEventStore(options: EventStoreOptions): Promise<EventStore> {
  const { config, database, now, load } = options;
  return (await loadEventStore(config, load))({ database, now });
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
  const { createSpooledStore } = await import('../../observe/events/spool/spooled-store.js');
  const spooled = createSpooledStore({ store, ...config.spool, failures });
  meter.spooledOctets = () => spooled.spool.octets;
  return spooled;
}
