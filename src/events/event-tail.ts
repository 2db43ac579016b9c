import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkLane } from '../database/bulk.js';
import { allOf, FALSE } from '../database/text.js';
import { conditionsOf, type EventFilter } from './event-filter.js';
import { hasMore, MESSAGE_LIMITS, type PartLimits, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent, type StoredEvent } from './event-row.js';

/** State of the event log. */
export interface EventLogState {
  /** Position of the last committed event, or of one skipped after it. */
  readonly head: bigint;
  /** The highest position of an event that was deleted because of its age. */
  readonly prunedPosition: bigint;
}

/** An event and its approximate size in bytes. */
export interface TailEvent extends StoredEvent {
  readonly octets: number;
}

/** Events after a position, with the consistent state of the log. */
export interface TailPart extends EventLogState {
  /** In the order of their positions. */
  readonly events: readonly TailEvent[];
  /** Every event up to here was read. Below the requested position if the head is (restored database). */
  readonly upTo: bigint;
}

/**
 * Reads events in the order in which they were committed. Positions are assigned under a lock that is held
 * until the commit, so a reader of a position has seen all before it.
 */
export interface EventTail {
  state(): Promise<EventLogState>;
  /** The events after a position; reads only as many as fit into the limits, whether they match or not. */
  after(lane: BulkLane, position: bigint, filter: EventFilter): Promise<TailPart>;
}

const ORDER = Prisma.sql`"position"`;

export function createEventTail(
  bulk: Pick<BulkDatabase, 'read'>,
  limits: PartLimits = MESSAGE_LIMITS,
): EventTail {
  return {
    async state() {
      const [row] = await bulk.read(
        'statistics',
        Prisma.sql`SELECT "position", "pruned_position" FROM "event_log" WHERE "id" = 1`,
      );
      return { head: integer(row?.[0]), prunedPosition: integer(row?.[1]) };
    },
    async after(lane, position, filter) {
      const conditions = conditionsOf(filter);
      const passes = conditions === 'nothing' ? FALSE : allOf(conditions);
      // Only by the positions of the part: an index of a filter may contain all existing events.
      const rows = await bulk.read(
        lane,
        Prisma.sql`
          WITH ${partOfEvents(Prisma.sql`"position" > ${position}`, ORDER, limits)}
          SELECT "passed".*, "log"."position", "log"."pruned_position",
            (SELECT MAX("at") FROM "part"), ${hasMore(limits)}
          FROM "event_log" AS "log" LEFT JOIN (
            SELECT ${READ_COLUMNS}, "octets" FROM "part" CROSS JOIN "events"
            WHERE "events"."position" = "part"."at" AND ${passes}) AS "passed" ON 1 = 1
          WHERE "log"."id" = 1 ORDER BY "passed"."position"`,
      );
      const [head, prunedPosition, last, more] = (rows[0] ?? []).slice(-4).map(integer);
      if (head === undefined || prunedPosition === undefined)
        throw new Error('the row of the event log is missing');
      return {
        // A log without events after the position gives a single row.
        events: rows
          .filter((row) => row[0] !== null)
          .map((row) => ({ ...readEvent(row), octets: Number(row.at(-5)) })),
        upTo: more === 0n ? head : (last ?? head),
        head,
        prunedPosition,
      };
    },
  };
}

function integer(value: unknown): bigint {
  return BigInt(String(value ?? 0));
}
