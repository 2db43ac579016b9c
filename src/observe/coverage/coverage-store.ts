import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Stage } from '../../kernel/core/types.js';
import type { Database } from '../../storage/database/database.js';
import { jsonElements } from '../../storage/database/json-elements.js';
import {
  type Column,
  columns,
  from,
  number,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import { advanceWriter } from '../events/counts/count-store.js';
import { MAX_STEPS, type SeenStep } from './sightings.js';

/** Rows deleted by one transaction. */
const DELETED_AT_ONCE = 2_000;
/** How long a writer is remembered that writes nothing more, in seconds. */
const WRITERS_KEPT_S = 60 * 86_400;
/** A stored time that is further in the future is from a wrong clock, and is replaced. In seconds. */
const MAX_SKEW_S = 60;
/** What the names of writers begin with, which tells them from those of the counts of evaluations. */
const WRITER_PREFIX = 'coverage:';

/** What is added to the stored coverage at once, and once: it is known by its writer and its number. */
export interface CoverageBatch {
  readonly writerId: string;
  readonly number: number;
  readonly steps: readonly SeenStep[];
}

const STEP = columns({
  agentId: number,
  point: text,
  stage: text as Column<Stage>,
  stepType: text,
  stepName: text,
  evaluated: number,
  firstSeenS: number,
  lastSeenS: number,
});

/** A row of the stored coverage of an agent. Times are in seconds since 1970. */
export type StepRow = ReadRow<typeof STEP>;

const LAST_SEEN = columns({ point: text, lastSeenS: from(Prisma.sql`MAX("last_seen_s")`, number) });

export type CoverageStore = ReturnType<typeof createCoverageStore>;

/** The stored coverage of agents of all namespaces. Every method rejects with a `ServiceError` only. */
export function createCoverageStore({ kind, bulk }: Pick<Database, 'kind' | 'bulk'>) {
  const elements = jsonElements(kind);
  return {
    /** Adds a batch in one transaction, unless it was added before. Agents that were removed meanwhile are left out. */
    async add({ writerId, number, steps }: CoverageBatch, nowS: number): Promise<void> {
      await bulk.transaction(async (tx) => {
        const writer = { writerId: WRITER_PREFIX + writerId, number };
        const [advanced] = await tx.run(advanceWriter(writer, nowS));
        if (advanced?.rows.length === 0) return;
        await tx.run(addSteps(elements(JSON.stringify(steps.map(valuesOf))), nowS));
      });
    },

    /** All rows of these agents, by point, stage, type and name. */
    async stepsOf(agentIds: readonly number[]): Promise<StepRow[]> {
      if (agentIds.length === 0) return [];
      return select(STEP, bulk)`
        FROM "agent_coverage" WHERE "agent_id" IN (${Prisma.join([...agentIds])})
        ORDER BY "agent_id", "point", "stage" DESC, "step_type", "step_name"`;
    },

    /** When any agent was last seen at each point, in seconds since 1970. */
    async points(): Promise<Map<string, number>> {
      const rows = await select(LAST_SEEN, bulk, 'statistics')`FROM "agent_coverage" GROUP BY "point"`;
      return new Map(rows.map(({ point, lastSeenS }) => [point, lastSeenS]));
    },

    /** Forgets what was last seen before a time, and writers that are gone. */
    async prune(beforeS: number, nowS: number): Promise<void> {
      for (;;) {
        const [deleted] = await bulk.transaction((tx) =>
          tx.run(Prisma.sql`
            DELETE FROM "agent_coverage" WHERE (${KEY}) IN (
              SELECT ${KEY} FROM "agent_coverage" WHERE "last_seen_s" < ${BigInt(beforeS)} LIMIT ${DELETED_AT_ONCE})`),
        );
        if ((deleted?.changes ?? 0) < DELETED_AT_ONCE) break;
      }
      await bulk.transaction((tx) =>
        tx.run(Prisma.sql`
          DELETE FROM "evaluation_count_writers"
          WHERE "writer_id" LIKE ${`${WRITER_PREFIX}%`} AND "written_at_s" < ${BigInt(nowS - WRITERS_KEPT_S)}`),
      );
    },
  };
}

const KEY = Prisma.raw('"agent_id", "point", "stage", "step_type", "step_name"');

function valuesOf({ agent, point, stage, stepType, stepName, evaluated, firstSeenS, lastSeenS }: SeenStep) {
  return [agent, point, stage, stepType, stepName, evaluated, firstSeenS, lastSeenS];
}

/**
 * Steps beyond the bound of an agent are added without their names: a process names as many as the bound again after each
 * start, and there are several. In the order of their keys, so that two processes cannot deadlock.
 */
function addSteps(elements: Prisma.Sql, nowS: number): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "agent_coverage" (${KEY}, "evaluated", "first_seen_s", "last_seen_s")
    WITH "batch" AS MATERIALIZED (
      SELECT a."id" AS "agent_id", "item" ->> 1 AS "point", "item" ->> 2 AS "stage", "item" ->> 3 AS "step_type",
        "item" ->> 4 AS "step_name", CAST("item" ->> 5 AS BIGINT) AS "evaluated",
        CAST("item" ->> 6 AS BIGINT) AS "first_seen_s", CAST("item" ->> 7 AS BIGINT) AS "last_seen_s"
      FROM ${elements} JOIN "agents" a ON a."name" = "item" ->> 0),
    "sizes" AS MATERIALIZED (
      SELECT c."agent_id", COUNT(*) AS "size" FROM "agent_coverage" c
      WHERE c."agent_id" IN (SELECT "agent_id" FROM "batch") GROUP BY c."agent_id"),
    "named" AS (
      SELECT b.*, CASE WHEN COALESCE(s."size", 0) < ${MAX_STEPS} OR EXISTS (
        SELECT 1 FROM "agent_coverage" c WHERE c."agent_id" = b."agent_id" AND c."point" = b."point"
          AND c."stage" = b."stage" AND c."step_type" = b."step_type" AND c."step_name" = b."step_name")
        THEN 1 ELSE 0 END AS "is_named"
      FROM "batch" b LEFT JOIN "sizes" s ON s."agent_id" = b."agent_id")
    SELECT "agent_id", "point", "stage", CASE WHEN "is_named" = 1 THEN "step_type" ELSE '' END,
      CASE WHEN "is_named" = 1 THEN "step_name" ELSE '' END, CAST(SUM("evaluated") AS BIGINT),
      MIN("first_seen_s"), MAX("last_seen_s")
    FROM "named" WHERE 1 = 1 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (${KEY}) DO UPDATE SET
      "evaluated" = "agent_coverage"."evaluated" + excluded."evaluated",
      "first_seen_s" = CASE WHEN excluded."first_seen_s" < "agent_coverage"."first_seen_s"
        THEN excluded."first_seen_s" ELSE "agent_coverage"."first_seen_s" END,
      "last_seen_s" = CASE WHEN excluded."last_seen_s" > "agent_coverage"."last_seen_s"
        OR "agent_coverage"."last_seen_s" > ${BigInt(nowS + MAX_SKEW_S)} THEN excluded."last_seen_s" ELSE "agent_coverage"."last_seen_s" END`;
}
