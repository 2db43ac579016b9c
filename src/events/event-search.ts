import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow } from '../database/bulk.js';
import { createMutex } from '../database/mutex.js';
import { allOf } from '../database/text.js';
import type { ControlEvent } from './event.js';
import { conditionsOf, type EventFilter } from './event-filter.js';
import { hasMore, PART_LIMITS, type PartLimits, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent, type StoredEvent } from './event-row.js';

/** A position between two events of a search: after the one with this time and position. */
export interface EventCursor {
  readonly timeUs: bigint;
  readonly position: bigint;
}

/** The requested part of the events that match a filter. */
export interface EventPageQuery {
  readonly limit: number;
  /** Events to skip, after the cursor if there is one. */
  readonly offset?: number;
  readonly after?: EventCursor | undefined;
}

export interface EventPage {
  readonly events: ControlEvent[];
  /** Where the next page starts; undefined when there is none. */
  readonly next: EventCursor | undefined;
}

/** Finds events, latest first; of those with the same time, the last stored comes first. */
export interface EventSearch {
  page(filter: EventFilter, query: EventPageQuery): Promise<EventPage>;
  /**
   * Exact number of events that match a filter. The total without a filter is maintained; otherwise the
   * database counts them: from an index alone for filters by agent, control, time, action, outcome, stage and
   * kind of step.
   */
  count(filter: EventFilter): Promise<number>;
  /**
   * All events that match a filter, part by part, of which only one is in memory. Events that are stored,
   * deleted or get another time meanwhile may or may not be included.
   */
  walk(filter: EventFilter): AsyncGenerator<ControlEvent[], void, void>;
}

/** Latest first. */
const ORDER = Prisma.sql`"time_us" DESC, "position" DESC`;

export function createEventSearch(
  bulk: Pick<BulkDatabase, 'read'>,
  partLimits: PartLimits = PART_LIMITS,
): EventSearch {
  /** One at a time, so that many walks leave connections to other work. */
  const walking = createMutex();

  async function readPart(conditions: readonly Prisma.Sql[]): Promise<readonly BulkRow[]> {
    const release = await walking.acquire();
    try {
      return await bulk.read(
        'search',
        Prisma.sql`
          WITH ${partOfEvents(allOf(conditions), ORDER, partLimits)}
          SELECT ${READ_COLUMNS}, ${hasMore(partLimits)} FROM "part" CROSS JOIN "events"
          WHERE "events"."position" = "part"."at" ORDER BY "ordinal"`,
      );
    } finally {
      release();
    }
  }

  return {
    async page(filter, { limit, offset = 0, after }) {
      const conditions = conditionsOf(filter);
      if (conditions === 'nothing') return { events: [], next: undefined };
      if (after !== undefined) conditions.push(isAfter(after));
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT ${READ_COLUMNS} FROM "events" WHERE ${allOf(conditions)}
          ORDER BY ${ORDER} LIMIT ${limit + 1} OFFSET ${offset}`,
      );
      const found = rows.slice(0, limit).map(readEvent);
      return {
        events: found.map(({ event }) => event),
        next: rows.length > limit ? cursorAfter(found.at(-1)) : undefined,
      };
    },
    async count(filter) {
      const conditions = conditionsOf(filter);
      if (conditions === 'nothing') return 0;
      const [row] = await bulk.read(
        'search',
        conditions.length === 0
          ? Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`
          : Prisma.sql`SELECT COUNT(*) FROM "events" WHERE ${allOf(conditions)}`,
      );
      return Number(row?.[0] ?? 0);
    },
    async *walk(filter) {
      const conditions = conditionsOf(filter);
      if (conditions === 'nothing') return;
      let after: EventCursor | undefined;
      do {
        const rows = await readPart(after === undefined ? conditions : [...conditions, isAfter(after)]);
        const found = rows.map(readEvent);
        after = Number(rows[0]?.at(-1) ?? 0) === 0 ? undefined : cursorAfter(found.at(-1));
        if (found.length > 0) yield found.map(({ event }) => event);
      } while (after !== undefined);
    },
  };
}

function isAfter({ timeUs, position }: EventCursor): Prisma.Sql {
  return Prisma.sql`("time_us", "position") < (${timeUs}, ${position})`;
}

function cursorAfter(last: StoredEvent | undefined): EventCursor | undefined {
  return last && { timeUs: last.event.timestamp.us, position: last.position };
}
