import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { jsonElements } from '../../../storage/database/json-elements.js';
import { readNumber } from '../../../storage/database/rows.js';
import { allOf } from '../../../storage/database/text.js';
import { oldestRolledS, ROLLUP_LEVELS, type RollupLevel } from '../store/rollup-levels.js';
import { SUMS } from '../store/rollup-sums.js';
import type { RollupSegment } from '../store/time-range.js';

export const SUM_COLUMNS = Prisma.raw(SUMS.map((name) => `"${name}"`).join(', '));
/** `SUM` of every sum, as the integer type of the database. */
export const SUM_OF_SUMS = Prisma.raw(
  SUMS.map((name) => `CAST(SUM("${name}") AS BIGINT) AS "${name}"`).join(', '),
);

/** PostgreSQL fails to divide the very smallest numbers. */
const HIGH = 'CASE WHEN "duration_ms" >= 65536 THEN floor("duration_ms" / 65536.0) ELSE 0 END';

/**
 * Contribution of events to the sums of a rollup; its only definition. Confidence is summed in billionths and
 * durations in nanoseconds, each value rounded once to the nearest, so that a sum does not depend on the
 * order and can be reverted exactly; an average differs from that of the exact values by half a unit at most.
 * A duration is split at 65,536 ms, because the sum of a thousand of the longest ones would exceed 64 bits.
 */
const CONTRIBUTION = Prisma.raw(`
  COUNT(*) AS "executions",
  COUNT(*) FILTER (WHERE "facets" & 1 = 1 AND "error_message" IS NULL) AS "matches",
  COUNT(*) FILTER (WHERE "facets" & 1 = 0 AND "error_message" IS NULL) AS "non_matches",
  COUNT("error_message") AS "errors",
  COUNT(*) FILTER (WHERE "facets" & 25 = 1) AS "denies",
  COUNT(*) FILTER (WHERE "facets" & 25 = 9) AS "steers",
  COUNT(*) FILTER (WHERE "facets" & 25 = 17) AS "observes",
  COALESCE(SUM(CAST(ROUND("confidence" * 1000000000.0) AS BIGINT)), 0) AS "confidence_nano",
  COUNT("duration_ms") AS "durations",
  SUM(CAST(${HIGH} AS BIGINT)) AS "duration_high",
  COALESCE(SUM(CAST(ROUND(("duration_ms" - 65536.0 * ${HIGH}) * 1000000.0) AS BIGINT)), 0) AS "duration_low"`);
const SECOND = Prisma.raw('("time_us" - ("time_us" % 1000000 + 1000000) % 1000000) / 1000000');

/** Sums of the events of a table that satisfy a condition, by second, agent, control and key of the name. */
export function sumsBySecond(table: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT "agent_name", "control_id", COALESCE("name_key", "control_name") AS "name_key", ${SECOND} AS "second",
      ${CONTRIBUTION}
    FROM ${table} WHERE ${where}
    GROUP BY 1, 2, 3, 4`;
}

/** Start of the unit that contains a second. */
export const UNIT_START = Prisma.raw('"second" - ("second" % "unit_s" + "unit_s") % "unit_s"');

/** Unit lengths with the first second that each of them needs, as a table `"levels"`. */
export function levelTable(levels: readonly RollupLevel[], nowS: number): Prisma.Sql {
  const rows = levels.map(
    ({ unitS, keptS }) => Prisma.sql`(${Prisma.raw(String(unitS))}, ${Prisma.raw(String(nowS - keptS))})`,
  );
  return Prisma.sql`"levels" ("unit_s", "from_s") AS (VALUES ${Prisma.join(rows)})`;
}

export const ADD_TO_ROLLUP = Prisma.raw(`
  ON CONFLICT ("agent_name", "unit_s", "start_s", "control_id", "name_key") DO UPDATE SET
  ${SUMS.map((name) => `"${name}" = "event_rollups"."${name}" + excluded."${name}"`).join(', ')}`);

/**
 * Adds the events of a table that satisfy a condition to the rollups, or subtracts them (`sign` -1). Events too old for
 * a level are omitted from it, in both directions.
 */
export function advanceRollups(table: Prisma.Sql, where: Prisma.Sql, sign: 1 | -1, nowS: number): Prisma.Sql {
  const signed = Prisma.raw(
    SUMS.map((name) => `CAST(${sign === -1 ? '-' : ''}SUM("${name}") AS BIGINT)`).join(', '),
  );
  const recent = Prisma.sql`${where} AND "time_us" >= ${BigInt(oldestRolledS(nowS)) * 1_000_000n}`;
  return Prisma.sql`
    INSERT INTO "event_rollups" ("agent_name", "unit_s", "start_s", "control_id", "name_key", ${SUM_COLUMNS})
    WITH ${levelTable(ROLLUP_LEVELS, nowS)}, "seconds" AS MATERIALIZED (${sumsBySecond(table, recent)})
    SELECT "agent_name", "unit_s", ${UNIT_START}, "control_id", "name_key", ${signed}
    FROM "seconds" CROSS JOIN "levels" WHERE "second" >= "from_s"
    GROUP BY 1, 2, 3, 4, 5
    ${ADD_TO_ROLLUP}`;
}

/**
 * The rollups of some segments that satisfy conditions, as tables of a FROM clause, with `"item" ->> 0` as their bucket.
 * Both databases look up the segments one by one in an index; by default, PostgreSQL would read all rollups.
 */
export function rollupsOf(
  kind: DatabaseLocation['kind'],
  segments: readonly RollupSegment[],
  conditions: readonly Prisma.Sql[],
  table: Prisma.Sql = Prisma.raw('"event_rollups"'),
): Prisma.Sql {
  const items = segments.map(({ bucket, unitS, fromS, toS }) => [bucket, unitS, fromS, toS]);
  const elements = jsonElements(kind)(JSON.stringify(items));
  const where = allOf([
    ...conditions,
    Prisma.sql`"unit_s" = CAST("item" ->> 1 AS INTEGER)`,
    Prisma.sql`"start_s" >= CAST("item" ->> 2 AS BIGINT)`,
    Prisma.sql`"start_s" < CAST("item" ->> 3 AS BIGINT)`,
  ]);
  return kind === 'sqlite'
    ? Prisma.sql`${elements} CROSS JOIN ${table} WHERE ${where}`
    : Prisma.sql`
        ${elements} CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${where} OFFSET 0) AS "r"`;
}

/** The time in seconds from which rollups count all events that are stored, and no others. */
export async function firstRolledS(bulk: Pick<BulkDatabase, 'read'>, nowS: number): Promise<number> {
  const prunedUs = await readNumber(
    bulk,
    Prisma.sql`SELECT "pruned_before_us" FROM "event_log" WHERE "id" = 1`,
  );
  return Math.max(Math.ceil(prunedUs / 1e6), oldestRolledS(nowS));
}
