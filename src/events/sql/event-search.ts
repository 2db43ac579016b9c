import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow } from '../../database/bulk.js';
import { createMutex } from '../../database/mutex.js';
import { allOf } from '../../database/text.js';
import type { EventCursor, EventSearch } from '../store/event-search.js';
import { PART_LIMITS, type PartLimits, type StoredEvent } from '../store/event-tail.js';
import { countEvents } from './count-events.js';
import { sqlConditionsOf } from './event-conditions.js';
import { hasMore, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent } from './event-row.js';
import { ALL_EVENTS } from './segment-tables.js';

/** Latest first. */
const ORDER = Prisma.sql`"time_us" DESC, "position" DESC`;

export function createEventSearch(
  bulk: Pick<BulkDatabase, 'read'>,
  partLimits: PartLimits = PART_LIMITS,
): Omit<EventSearch, 'estimate'> {
  /** One at a time, so that many walks leave connections to other work. */
  const walking = createMutex();

  async function readPart(conditions: readonly Prisma.Sql[]): Promise<readonly BulkRow[]> {
    const release = await walking.acquire();
    try {
      return await bulk.read(
        'search',
        Prisma.sql`
          WITH ${partOfEvents(allOf(conditions), ORDER, partLimits)}
          SELECT ${READ_COLUMNS}, ${hasMore(partLimits)} FROM "part" CROSS JOIN ${ALL_EVENTS} AS "events"
          WHERE "events"."position" = "part"."at" ORDER BY "ordinal"`,
      );
    } finally {
      release();
    }
  }

  return {
    async page(filter, { limit, offset = 0, after }) {
      const conditions = sqlConditionsOf(filter);
      if (conditions === 'nothing') return { events: [], next: undefined };
      if (after !== undefined) conditions.push(isAfter(after));
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT ${READ_COLUMNS} FROM ${ALL_EVENTS} WHERE ${allOf(conditions)}
          ORDER BY ${ORDER} LIMIT ${limit + 1} OFFSET ${offset}`,
      );
      const found = rows.slice(0, limit).map(readEvent);
      return {
        events: found.map(({ event }) => event),
        next: rows.length > limit ? cursorAfter(found.at(-1)) : undefined,
      };
    },
    async count(filter) {
      const conditions = sqlConditionsOf(filter);
      if (conditions === 'nothing') return 0;
      if (conditions.length > 0) return countEvents(bulk, conditions);
      const [row] = await bulk.read('search', Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`);
      return Number(row?.[0] ?? 0);
    },
    async *walk(filter) {
      const conditions = sqlConditionsOf(filter);
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
