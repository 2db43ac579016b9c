import type { EventStore, GroupLimits } from '../../../src/observe/events/store/event-store.js';
import { skipPositions } from '../../../src/observe/events/store/log-row.js';
import type { Database } from '../../../src/storage/database/database.js';
import type { ClickHouseLocation } from '../../clickhouse-tables/src/index.js';
import { createClickHouseConnection } from './clickhouse-connection.js';
import { decodeRow, encodeEvent } from './clickhouse-row.js';
import { createEventRetention } from './event-retention.js';
import { createEventSearch } from './event-search.js';
import { createEventTail } from './event-tail.js';
import { createEventWriter } from './event-writer.js';
import { createLeases } from './lease.js';
import { rebuildRollups } from './rollup-rebuild.js';
import { createStatisticsStore } from './statistics-store.js';
import { createWriteTurns } from './write-turns.js';

/** Large, because every group is some new files of the server. */
const GROUP_LIMITS: GroupLimits = { events: 20_000, length: 16 * 1024 * 1024 };

export interface ClickHouseEventStoreOptions {
  readonly location: ClickHouseLocation;
  /** Has the row of the lease. */
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Events in ClickHouse. It is connected, and its tables are created, when it is used first. */
export function createClickHouseEventStore({
  location,
  database,
  now,
}: ClickHouseEventStoreOptions): EventStore {
  const { bulk } = database;
  const connection = createClickHouseConnection({ location });
  const leases = createLeases(database);
  const turns = createWriteTurns({ connection, leases, now });
  return {
    kind: 'clickhouse',
    encode: encodeEvent,
    decode: decodeRow,
    groupLimits: GROUP_LIMITS,
    write: createEventWriter({ connection, turns, now }),
    search: createEventSearch({ connection, state: leases.state }),
    tail: createEventTail({ connection, state: leases.state }),
    statistics: createStatisticsStore(connection),
    retention: createEventRetention({ connection, leases, turns, bulk, now }),
    skipPositions: (count, least) => skipPositions('event_store_lease', bulk, count, least),
    rebuildStatistics: () => rebuildRollups({ connection, leases, turns, now }),
    close: () => connection.close(),
  };
}
