import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Namespace } from '../../../contract/call/namespace.js';
import type { Database } from '../../../storage/database/database.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { jsonElements } from '../../../storage/database/json-elements.js';
import { levelTable, UNIT_START } from '../sql/rollups.js';
import { DAY, MINUTE, ROLLUP_LEVELS } from '../store/rollup-levels.js';
import type { CountBatch } from './count-batch.js';
import { controlValues, FIRST_SUM, rowValues } from './count-text.js';
import { OUTCOME_SUMS } from './outcome-sums.js';

/** The units that counts are stored by, and how long: as those of events, from a minute on. */
export const COUNT_LEVELS = ROLLUP_LEVELS.filter(({ unitS }) => unitS >= MINUTE);

/** How long a writer is remembered that writes nothing more. Its files must not wait longer than that. */
export const WRITERS_KEPT_S = 60 * DAY;

const SUM_COLUMNS = Prisma.raw(OUTCOME_SUMS.map((sum) => `"${sum}"`).join(', '));
const READ_SUMS = Prisma.raw(
  OUTCOME_SUMS.map((sum, index) => `CAST("item" ->> ${FIRST_SUM + index} AS BIGINT) AS "${sum}"`).join(', '),
);
const SUM_OF_SUMS = Prisma.raw(OUTCOME_SUMS.map((sum) => `CAST(SUM("${sum}") AS BIGINT)`).join(', '));
const ADD_SUMS = Prisma.raw(
  OUTCOME_SUMS.map((sum) => `"${sum}" = "evaluation_counts"."${sum}" + excluded."${sum}"`).join(', '),
);

/**
 * The name under which the sums over all agents of a namespace are stored, so that a chart of all of them costs the same
 * as one of an agent. It is the name of none: empty in `default`, NAMESPACE/ elsewhere.
 */
export const allAgentsOf = (namespace: Namespace): string => namespace.prefix;

/** The same of the namespace of a key. */
const ALL_AGENTS: Record<DatabaseLocation['kind'], Prisma.Sql> = {
  sqlite: Prisma.raw(`substr("agent_name", 1, instr("agent_name", '/'))`),
  postgresql: Prisma.raw(`substr("agent_name", 1, strpos("agent_name", '/'))`),
};

/** Adds a batch to the stored counts, in one transaction, unless it was added before. */
export type AddCounts = (batch: CountBatch) => Promise<void>;

/**
 * Creates what adds batches. The first statement locks the single row of `evaluation_counting`: so all writers take turns,
 * and the locks that follow cannot deadlock. The second one advances the row of the writer, or the batch is in the counts.
 */
export function createAddCounts(
  { kind, bulk }: Pick<Database, 'kind'> & { readonly bulk: Pick<Database['bulk'], 'transaction'> },
  now: () => number,
): AddCounts {
  const elements = jsonElements(kind);
  return (batch) =>
    bulk.transaction(async (tx) => {
      const nowS = Math.floor(now() / 1000);
      const [, advanced] = await tx.run(lockCounts(batch.sinceS), advanceWriter(batch, nowS));
      if (advanced?.rows.length === 0) return;
      const rows = elements(JSON.stringify(batch.rows.map(rowValues)));
      const controls = elements(JSON.stringify(batch.controls.map(controlValues)));
      await tx.run(addRows(kind, rows, nowS), noteAgents(rows), noteControls(controls));
    });
}

/** The first writer of all says since when evaluations are counted. */
function lockCounts(sinceS: number): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "evaluation_counting" ("id", "since_s") VALUES (1, ${BigInt(sinceS)})
    ON CONFLICT ("id") DO UPDATE SET "since_s" = "evaluation_counting"."since_s"`;
}

export function advanceWriter(
  { writerId, number }: Pick<CountBatch, 'writerId' | 'number'>,
  nowS: number,
): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "evaluation_count_writers" ("writer_id", "batch", "written_at_s")
    VALUES (${writerId}, ${BigInt(number)}, ${BigInt(nowS)})
    ON CONFLICT ("writer_id") DO UPDATE SET "batch" = excluded."batch", "written_at_s" = excluded."written_at_s"
    WHERE "evaluation_count_writers"."batch" < excluded."batch"
    RETURNING "batch"`;
}

/** What is too old for a level, or of longer units, is left out of it. */
function addRows(kind: DatabaseLocation['kind'], rows: Prisma.Sql, nowS: number): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "evaluation_counts" ("agent_name", "unit_s", "start_s", ${SUM_COLUMNS})
    WITH ${levelTable(COUNT_LEVELS, nowS)}, "batch" AS MATERIALIZED (
      SELECT "item" ->> 0 AS "agent_name", CAST("item" ->> 1 AS INTEGER) AS "counted_s",
        CAST("item" ->> 2 AS BIGINT) AS "second", ${READ_SUMS}
      FROM ${rows}),
    "added" AS (
      SELECT "agent_name", "counted_s", "second", ${SUM_COLUMNS} FROM "batch"
      UNION ALL SELECT ${ALL_AGENTS[kind]}, "counted_s", "second", ${SUM_COLUMNS} FROM "batch")
    SELECT "agent_name", "unit_s", ${UNIT_START}, ${SUM_OF_SUMS}
    FROM "added" CROSS JOIN "levels" WHERE "second" >= "from_s" AND "unit_s" >= "counted_s"
    GROUP BY 1, 2, 3
    ON CONFLICT ("agent_name", "unit_s", "start_s") DO UPDATE SET ${ADD_SUMS}`;
}

/** Agents that were removed meanwhile are left out. */
function noteAgents(rows: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "agent_activity" ("agent_name", "last_evaluated_s", "last_denied_s")
    SELECT "item" ->> 0, MAX(CAST("item" ->> 3 AS BIGINT)), MAX(CAST("item" ->> 4 AS BIGINT))
    FROM ${rows} WHERE EXISTS (SELECT 1 FROM "agents" WHERE "name" = "item" ->> 0)
    GROUP BY 1
    ON CONFLICT ("agent_name") DO UPDATE SET
    ${later('agent_activity', 'last_evaluated_s')}, ${later('agent_activity', 'last_denied_s')}`;
}

function noteControls(controls: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "control_activity" ("control_id", "last_matched_s", "last_denied_s", "last_failed_s")
    SELECT CAST("item" ->> 0 AS INTEGER), CAST("item" ->> 1 AS BIGINT), CAST("item" ->> 2 AS BIGINT),
      CAST("item" ->> 3 AS BIGINT)
    FROM ${controls} WHERE 1 = 1
    ON CONFLICT ("control_id") DO UPDATE SET
    ${later('control_activity', 'last_matched_s')}, ${later('control_activity', 'last_denied_s')},
    ${later('control_activity', 'last_failed_s')}`;
}

/** The later time of a row and of what conflicts with it; either may be null. */
function later(table: string, column: string): Prisma.Sql {
  const known = `"${table}"."${column}"`;
  return Prisma.raw(
    `"${column}" = CASE WHEN ${known} IS NULL OR excluded."${column}" > ${known}
      THEN excluded."${column}" ELSE ${known} END`,
  );
}
