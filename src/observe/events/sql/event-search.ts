import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { mapInTurns } from '../../../decide/decisions/in-turns.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';
import { allOf } from '../../../storage/database/text.js';
import type { EventCursor, EventSearch } from '../store/event-search.js';
import { PART_LIMITS, type PartLimits } from '../store/event-tail.js';
import { createWalks, cursorAfter, pageOf, type SearchPart } from '../store/event-walk.js';
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
  const walk = createWalks();

  async function readPart(conditions: readonly Prisma.Sql[]): Promise<SearchPart> {
    const rows = await bulk.read(
      'search',
      Prisma.sql`
        WITH ${partOfEvents(allOf(conditions), ORDER, partLimits)}
        SELECT ${READ_COLUMNS}, ${hasMore(partLimits)} FROM "part" CROSS JOIN ${ALL_EVENTS} AS "events"
        WHERE "events"."position" = "part"."at" ORDER BY "ordinal"`,
    );
    const events = await mapInTurns(rows, readEvent);
    const isLast = Number(rows[0]?.at(-1) ?? 0) === 0;
    return { events, after: isLast ? undefined : cursorAfter(events.at(-1)) };
  }

  return {
    async page(filter, { limit, offset = 0, after }) {
      const conditions = sqlConditionsOf(filter);
      if (conditions === 'nothing') return { events: [], next: undefined };
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT ${READ_COLUMNS} FROM ${ALL_EVENTS} WHERE ${allOf([...conditions, ...isAfter(after)])}
          ORDER BY ${ORDER} LIMIT ${limit + 1} OFFSET ${offset}`,
      );
      return pageOf(await mapInTurns(rows, readEvent), limit);
    },
    count: (filter) => countEvents(bulk, filter),
    async *walk(filter) {
      const conditions = sqlConditionsOf(filter);
      if (conditions === 'nothing') return;
      yield* walk((after) => readPart([...conditions, ...isAfter(after)]));
    },
  };
}

/** No condition when there is no cursor. */
function isAfter(cursor: EventCursor | undefined): Prisma.Sql[] {
  return cursor ? [Prisma.sql`("time_us", "position") < (${cursor.timeUs}, ${cursor.position})`] : [];
}
