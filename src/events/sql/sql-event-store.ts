import type { Database } from '../../database/database.js';
import type { EventStore, GroupLimits } from '../store/event-store.js';
import { createEventEstimate } from './event-estimate.js';
import { createSqlRetention } from './event-pruning.js';
import { encodeEvent } from './event-row.js';
import { createEventSearch } from './event-search.js';
import { createEventTail } from './event-tail.js';
import { createEventWriter } from './event-writer.js';
import { rebuildRollups } from './rollup-rebuild.js';
import { createStatisticsStore } from './statistics-store.js';

/** On SQLite, changes of controls wait for the transaction of a group. */
const GROUP_LIMITS: GroupLimits = { events: 2_000, length: 8 * 1024 * 1024 };

export interface SqlEventStoreOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Events in the database of the controls, SQLite or PostgreSQL. */
export function createSqlEventStore({ database, now }: SqlEventStoreOptions): EventStore {
  return {
    kind: database.kind,
    encode: encodeEvent,
    groupLimits: GROUP_LIMITS,
    write: createEventWriter({ database, now }),
    search: { ...createEventSearch(database.bulk), estimate: createEventEstimate({ database, now }) },
    tail: createEventTail(database.bulk),
    statistics: createStatisticsStore(database),
    retention: createSqlRetention(database.bulk, now),
    rebuildStatistics: () => rebuildRollups({ database, now }),
    // The database is closed by who opened it.
    close: async () => {},
  };
}
