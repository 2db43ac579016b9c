import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../database/bulk.js';
import { allOf, FALSE } from '../../database/text.js';
import { type EventTail, MESSAGE_LIMITS, type PartLimits } from '../store/event-tail.js';
import { conditionsOf } from './event-conditions.js';
import { hasMore, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent } from './event-row.js';
import { ALL_EVENTS } from './segment-tables.js';

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
            SELECT ${READ_COLUMNS}, "octets" FROM "part" CROSS JOIN ${ALL_EVENTS} AS "events"
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
