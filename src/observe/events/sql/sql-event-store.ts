import type { Database } from '../../../storage/database/database.js';
import type { EventStore, GroupLimits } from '../store/event-store.js';
import { skipPositions } from '../store/log-row.js';
import { createEventEstimate } from './event-estimate.js';
import { createSqlRetention } from './event-pruning.js';
import { decodeRow, encodeEvent } from './event-row.js';
import { createEventSearch } from './event-search.js';
import { createEventTail } from './event-tail.js';
import { createEventWriter } from './event-writer.js';
import { rebuildRollups } from './rollup-rebuild.js';
import { createSegmentUpkeep, type SegmentUpkeep } from './segment-upkeep.js';
import { createStatisticsStore } from './statistics-store.js';
import { StoredIds } from './stored-ids.js';

/** On SQLite, changes of controls wait for the transaction of a group: a fifth of a second. */
const GROUP_LIMITS: GroupLimits = { events: 5_000, length: 8 * 1024 * 1024 };

export interface SqlEventStoreOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `UpkeepOptions`; 0 by default. */
  readonly takeoverDelayMs?: number;
}

/** Events in the database of the controls, SQLite or PostgreSQL. */
export function createSqlEventStore({
  database,
  now,
  takeoverDelayMs = 0,
}: SqlEventStoreOptions): EventStore {
  const ids = new StoredIds();
  let upkeep: SegmentUpkeep | undefined;
  return {
    kind: database.kind,
    encode: encodeEvent,
    decode: decodeRow,
    groupLimits: GROUP_LIMITS,
    write: createEventWriter({ database, ids, now, onFull: () => upkeep?.closeSoon() }),
    search: { ...createEventSearch(database.bulk), estimate: createEventEstimate({ database, now }) },
    tail: createEventTail(database.bulk),
    statistics: createStatisticsStore(database),
    retention: createSqlRetention(database, now),
    skipPositions: (count, least) => skipPositions('event_log', database.bulk, count, least),
    rebuildStatistics: () => rebuildRollups({ database, now }),
    start(failures) {
      const { kind, bulk } = database;
      upkeep = createSegmentUpkeep({ kind, bulk, ids, takeoverDelayMs, failures });
      return upkeep.start();
    },
    // The database is closed by who opened it.
    close: async () => upkeep?.close(),
  };
}
