import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import { createSqlEventStore } from './sql/sql-event-store.js';
import type { EventStore } from './store/event-store.js';

export interface EventStoreOptions {
  readonly config: Config['observability'];
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The event store as configured. */
export function createEventStore(options: EventStoreOptions): EventStore {
  return createSqlEventStore(options);
}
