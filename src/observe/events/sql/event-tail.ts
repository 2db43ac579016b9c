import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow } from '../../../storage/database/bulk.js';
import { allOf, FALSE } from '../../../storage/database/text.js';
import { bigintOf } from '../store/count.js';
import { type EventLogState, type EventTail, MESSAGE_LIMITS, type PartLimits } from '../store/event-tail.js';
import { sqlConditionsOf } from './event-conditions.js';
import { hasMore, partOfEvents } from './event-part.js';
import { READ_COLUMNS, readEvent } from './event-row.js';
import { ALL_EVENTS } from './segment-tables.js';

const ORDER = Prisma.sql`"position"`;

const LOG_STATE = Prisma.sql`
  "log"."position", "log"."pruned_position", "log"."restored_from", "log"."restored_to"`;
const LOG_STATE_COLUMNS = 4;

export function createEventTail(
  bulk: Pick<BulkDatabase, 'read'>,
  limits: PartLimits = MESSAGE_LIMITS,
): EventTail {
  return {
    async state() {
      const [row] = await bulk.read(
        'statistics',
        Prisma.sql`SELECT ${LOG_STATE} FROM "event_log" AS "log" WHERE "id" = 1`,
      );
      return readLogState(row ?? []);
    },
    async after(lane, position, filter) {
      const conditions = sqlConditionsOf(filter);
      const passes = conditions === 'nothing' ? FALSE : allOf(conditions);
      // Only by the positions of the part: an index of a filter may contain all existing events.
      const rows = await bulk.read(
        lane,
        Prisma.sql`
          WITH ${partOfEvents(Prisma.sql`"position" > ${position}`, ORDER, limits)}
          SELECT "passed".*, (SELECT MAX("at") FROM "part"), ${hasMore(limits)}, ${LOG_STATE}
          FROM "event_log" AS "log" LEFT JOIN (
            SELECT ${READ_COLUMNS}, "octets" FROM "part" CROSS JOIN ${ALL_EVENTS} AS "events"
            WHERE "events"."position" = "part"."at" AND ${passes}) AS "passed" ON 1 = 1
          WHERE "log"."id" = 1 ORDER BY "passed"."position"`,
      );
      const [first] = rows;
      if (first === undefined) throw new Error('the row of the event log is missing');
      const [last, more] = first.slice(-LOG_STATE_COLUMNS - 2).map(bigintOf);
      const log = readLogState(first.slice(-LOG_STATE_COLUMNS));
      return {
        // A log without events after the position gives a single row.
        events: rows
          .filter((row) => row[0] !== null)
          .map((row) => ({ ...readEvent(row), octets: Number(row.at(-LOG_STATE_COLUMNS - 3)) })),
        upTo: more === 0n ? log.head : (last ?? log.head),
        ...log,
      };
    },
  };
}

function readLogState(columns: BulkRow): EventLogState {
  const [head, prunedPosition, from, to] = columns;
  return {
    head: bigintOf(head),
    prunedPosition: bigintOf(prunedPosition),
    restored: { from: bigintOf(from), to: bigintOf(to) },
  };
}
