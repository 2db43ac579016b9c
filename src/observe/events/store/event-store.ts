import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { ControlEvent } from './event.js';
import type { EventRetention } from './event-retention.js';
import type { EventSearch } from './event-search.js';
import type { StatisticsStore } from './event-statistics.js';
import type { EventTail } from './event-tail.js';

/** An event to be stored, with its row as text. */
export interface EncodedEvent {
  /** Its control_execution_id. */
  readonly id: string;
  readonly row: string;
  /** Bits for the store itself, so that it need not look at the event: 0 for the usual event. */
  readonly traits: number;
  /** Decoded from the row on first access when the row was made in another thread: about a microsecond. */
  readonly event: ControlEvent;
}

/**
 * Stores events and counts them: all of them or none. Events whose id is already stored change nothing, or are
 * merged with the stored one (`mergeEvents`). Resolves when they survive a crash of the process and of the storage.
 * Rejects with a `ServiceError`: SERVICE_UNAVAILABLE when they may be stored later, DATABASE_ERROR when the storage
 * can never hold them, an `OutcomeUnknownError` when they may be stored.
 */
export type WriteEvents = (events: readonly EncodedEvent[]) => Promise<void>;

/** Result of a rebuild. */
export interface RebuildResult {
  /** Hours that have events or rollups. */
  readonly hours: number;
  /** Number of wrong rollups; 0 when all of them agreed with the events. */
  readonly corrected: number;
}

/** The form of events in which a store takes them. Pure: it may be used in any thread. */
export interface EventCodec {
  encode(event: ControlEvent): EncodedEvent;
  /** The event of a row that `encode` made. */
  decode(row: string): ControlEvent;
}

/** Most events, and UTF-16 code units of their rows, that one call of `write` takes. */
export interface GroupLimits {
  readonly events: number;
  readonly length: number;
}

/**
 * Stores events, and answers all questions about them. There is one implementation for the SQL databases and one
 * for ClickHouse; `test/observe/events/store` holds what all of them promise. Methods reject with a `ServiceError`.
 */
export interface EventStore extends EventCodec {
  readonly kind: 'sqlite' | 'postgresql' | 'clickhouse';
  readonly groupLimits: GroupLimits;
  readonly write: WriteEvents;
  readonly search: EventSearch;
  readonly tail: EventTail;
  readonly statistics: StatisticsStore;
  readonly retention: EventRetention;
  /** Compares the rollups with the stored events, and corrects differences, while further events are stored. */
  rebuildStatistics(): Promise<RebuildResult>;
  /**
   * Moves the end of the log on by `count` positions at least, and to `least`, after the database was restored to an
   * earlier state: so none that a reader knows is given to another event, and those that come back are told
   * (`EventLogState.restored`).
   */
  skipPositions(count: number, least: number): Promise<void>;
  /**
   * Begins the work in the background of a process that serves requests. Resolves when an empty store has its final
   * structure, and never rejects. `close` ends the work.
   */
  start?(failures: Pick<RepeatLog, 'failed' | 'told'>): Promise<void>;
  /** Releases what the store itself has opened. Never rejects. */
  close(): Promise<void>;
}
