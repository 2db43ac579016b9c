import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { octetsOf } from '../store/event-columns.js';
import type { PartLimits } from '../store/event-tail.js';
import { ALL_EVENTS } from './segment-tables.js';

const OCTETS = Prisma.raw(octetsOf((column) => `octet_length("${column}")`));

/**
 * The first events in an order that fit into the limits, at least one, as tables of a WITH clause: `"found"`
 * with all those considered, and `"part"` with the columns `"at"` (position), `"octets"` and `"ordinal"`
 * (from 1).
 */
export function partOfEvents(where: Prisma.Sql, order: Prisma.Sql, limits: PartLimits): Prisma.Sql {
  return Prisma.sql`
    "found" AS MATERIALIZED (
      SELECT "position", "time_us", ${OCTETS} AS "octets" FROM ${ALL_EVENTS}
      WHERE ${where} ORDER BY ${order} LIMIT ${limits.events}),
    "part" AS MATERIALIZED (
      SELECT "position" AS "at", "octets", "ordinal" FROM (
        SELECT "position", "octets", ROW_NUMBER() OVER (ORDER BY ${order}) AS "ordinal",
          SUM("octets") OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS "total" FROM "found") AS "summed"
      WHERE "total" - "octets" < ${limits.octets})`;
}

/** Whether there may be events after those of `"part"`: 1 or 0. */
export function hasMore(limits: PartLimits): Prisma.Sql {
  return Prisma.sql`
    CASE WHEN (SELECT COUNT(*) FROM "found") = ${limits.events}
      OR (SELECT COUNT(*) FROM "found") > (SELECT COUNT(*) FROM "part") THEN 1 ELSE 0 END`;
}
