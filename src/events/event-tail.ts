import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkLane } from '../database/bulk.js';
import { allOf, FALSE } from '../database/text.js';
import { conditionsOf, type EventFilter } from './event-filter.js';
import { hasMore, MESSAGE_LIMITS, type PartLimits, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent, type StoredEvent } from './event-row.js';

/** How far events are stored. */
export interface EventLogState {
  /** Position of the last event that was committed, or of one that was left out after it. */
  readonly head: bigint;
  /** The highest position of an event that was deleted because of its age. */
  readonly prunedPosition: bigint;
}

/** An event and about how many bytes it takes. */
export interface TailEvent extends StoredEvent {
  readonly octets: number;
}

/** Events after a position, and what was known of the log at the same moment. */
export interface TailPart extends EventLogState {
  /** In the order of their positions. */
  readonly events: readonly TailEvent[];
  /** Every event up to here was looked at. Below the position asked for when the head is, in a restored database. */
  readonly upTo: bigint;
}

/**
 * Reads events in the order in which they were committed. Positions are given away under a lock that is held until the
 * commit, so whoever has seen a position has seen all before it.
 */
export interface EventTail {
  state(): Promise<EventLogState>;
  /** The events after a position; only so many as fit into the limits are looked at, whether they pass or not. */
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
      // By the positions of the part and nothing else: an index of a filter may hold all events there are.
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
        // A log without events after the position is a row of its own.
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
