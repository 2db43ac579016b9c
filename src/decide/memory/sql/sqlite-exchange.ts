import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkResult, BulkRow } from '../../../storage/database/bulk.js';
import { appliedGroups, MAX_FOLLOWING_ENTRIES, RULE_SEEN_US } from '../store/exchange-rules.js';
import {
  type CellNews,
  type ExchangeReply,
  type ExchangeRequest,
  RULE_GAP_US,
} from '../store/memory-store.js';
import { clockOf } from './rows.js';
import { writesOf } from './sqlite-writes.js';

type Bulk = Pick<BulkDatabase, 'read' | 'transaction' | 'guarded'>;

/**
 * Questions are one query. Additions are one call of the writing thread if the process knows all cells, the usual case; otherwise
 * one transaction of two calls, of which the first reads what is new.
 */
export async function exchangeOnSqlite(
  bulk: Bulk,
  request: ExchangeRequest,
  clockUs: () => number,
): Promise<ExchangeReply> {
  const { epoch, cells, groups, rules } = request;
  const storeUs = clockUs();
  if (rules.length === 0 && groups.every(({ additions }) => additions.length === 0)) {
    return { ...heard(request, await bulk.read('statistics', newsQuery(request)), storeUs), sinceUs: [] };
  }
  const [written, seen] = [
    (applied: readonly boolean[]) => writesOf(request, applied),
    rulesOf(rules, storeUs),
  ];
  if (epoch !== null && cells.every(({ known }) => known >= 0)) {
    const applied = groups.map(() => true);
    const results = await bulk.guarded(unchangedQuery(request), [...written(applied), ...seen]);
    if (results !== null) {
      return {
        clock: clockOf(storeUs, results[0]?.rows[0] ?? []),
        news: [],
        applied,
        sinceUs: sinceOf(results, rules),
      };
    }
  }
  return bulk.transaction(async (tx) => {
    const [state] = await tx.run(newsQuery(request));
    const reply = heard(request, state?.rows ?? [], storeUs);
    const statements = [...written(reply.applied), ...seen];
    const results = statements.length === 0 ? [] : await tx.run(...statements);
    return { ...reply, sinceUs: sinceOf(results, rules) };
  });
}

/** The clock, if all cells are as the process knows them. */
const unchangedQuery = ({ epoch, cells }: ExchangeRequest): Prisma.Sql => Prisma.sql`
  SELECT "offset_us", "version", "epoch" FROM "memory_clock" WHERE "id" = 1 AND "epoch" = ${epoch} AND NOT EXISTS (
    SELECT 1 FROM json_each(${knownOf(cells)}) AS "k" LEFT JOIN "memory_cells" AS "c" ON "c"."id" = "k"."value" ->> 0
    WHERE coalesce("c"."version", 0) <> "k"."value" ->> 1 OR coalesce("c"."generation", 0) <> "k"."value" ->> 2)`;

/** The clock, and for each cell its state, and what the process does not know of it. */
const newsQuery = ({ epoch, cells }: ExchangeRequest): Prisma.Sql => Prisma.sql`
  WITH "asked" AS MATERIALIZED (
    SELECT "key" AS "cell", "value" ->> 0 AS "id", "value" ->> 1 AS "known", "value" ->> 2 AS "generation",
      (SELECT "epoch" FROM "memory_clock" WHERE "id" = 1) IS ${epoch} AS "is_same"
    FROM json_each(${knownOf(cells)})
  ), "found" AS MATERIALIZED (
    SELECT "a"."cell", "a"."id", coalesce("c"."version", 0) AS "version", coalesce("c"."generation", 0) AS "generation",
      "c"."checkpoint_version", NOT "a"."is_same" OR coalesce("c"."version", 0) <> "a"."known"
        OR coalesce("c"."generation", 0) <> "a"."generation" AS "is_stale",
      CASE WHEN "a"."is_same" AND "a"."known" > 0 AND "a"."known" <= "c"."version" AND "a"."generation" = "c"."generation"
        THEN "a"."known" ELSE 0 END AS "start"
    FROM "asked" AS "a" LEFT JOIN "memory_cells" AS "c" ON "c"."id" = "a"."id"
  ), "news" AS MATERIALIZED (
    SELECT *, coalesce("checkpoint_version" > "start" AND ("start" = 0 OR "version" - "start" > ${MAX_FOLLOWING_ENTRIES}
      OR NOT EXISTS (SELECT 1 FROM "memory_entries" AS "e" WHERE "e"."cell_id" = "found"."id"
        AND "e"."version" = "found"."start" + 1)), 0) AS "begins"
    FROM "found"
  )
  SELECT "t"."offset_us", "t"."version", "t"."epoch", "n"."cell", "n"."is_stale", "n"."version", "n"."generation",
    CASE WHEN "n"."is_stale" AND "n"."begins" THEN
      (SELECT "m"."checkpoint" FROM "memory_cells" AS "m" WHERE "m"."id" = "n"."id") END,
    "n"."checkpoint_version",
    CASE WHEN "n"."is_stale" THEN (SELECT json_group_array("e"."entry") FROM (
      SELECT "entry" FROM "memory_entries" WHERE "cell_id" = "n"."id" AND "version" <= "n"."version"
        AND "version" > CASE WHEN "n"."begins" THEN "n"."checkpoint_version" ELSE "n"."start" END ORDER BY "version") AS "e") END
  FROM "memory_clock" AS "t" LEFT JOIN "news" AS "n" WHERE "t"."id" = 1 ORDER BY "n"."cell"`;

const knownOf = (cells: ExchangeRequest['cells']): string =>
  JSON.stringify(cells.map(({ id, known, generation }) => [id, known, generation]));

function heard(
  { cells, groups }: ExchangeRequest,
  rows: readonly BulkRow[],
  storeUs: number,
): Omit<ExchangeReply, 'sinceUs'> {
  const clock = clockOf(storeUs, rows[0] ?? []);
  const stale = cells.map((_, cell) => Number(rows[cell]?.[4]) === 1);
  const news = rows.slice(0, cells.length).filter((_, cell) => stale[cell] === true);
  return { clock, news: news.map(newsOf), applied: appliedGroups(groups, stale) };
}

function newsOf([, , , cell, , version, generation, text, checkpointVersion, entries]: BulkRow): CellNews {
  const checkpoint = typeof text === 'string' ? { text, version: Number(checkpointVersion) } : null;
  return {
    cell: Number(cell),
    version: Number(version),
    generation: Number(generation),
    checkpoint,
    entries: JSON.parse(String(entries)) as string[],
  };
}

/** Writes that rules are in use, and reads since when; nothing without rules. */
function rulesOf(rules: ExchangeRequest['rules'], storeUs: number): Prisma.Sql[] {
  if (rules.length === 0) return [];
  const listed = JSON.stringify(rules.map(({ namespace, rule }) => [namespace, rule]));
  return [
    Prisma.sql`
      INSERT INTO "memory_rules" ("namespace", "rule", "since_us", "seen_at_us")
      SELECT DISTINCT "k"."value" ->> 0, "k"."value" ->> 1, ${storeUs} + "t"."offset_us", ${storeUs} + "t"."offset_us"
      FROM json_each(${listed}) AS "k" JOIN "memory_clock" AS "t" ON "t"."id" = 1 WHERE true
      ON CONFLICT DO UPDATE SET "seen_at_us" = excluded."seen_at_us", "since_us" = CASE
        WHEN "memory_rules"."seen_at_us" < excluded."seen_at_us" - ${RULE_GAP_US} THEN excluded."since_us"
        ELSE "memory_rules"."since_us" END
      WHERE "memory_rules"."seen_at_us" < excluded."seen_at_us" - ${RULE_SEEN_US}`,
    Prisma.sql`
      SELECT "r"."since_us" FROM json_each(${listed}) AS "k" JOIN "memory_rules" AS "r"
        ON "r"."namespace" = "k"."value" ->> 0 AND "r"."rule" = "k"."value" ->> 1 ORDER BY "k"."key"`,
  ];
}

const sinceOf = (results: readonly BulkResult[], rules: ExchangeRequest['rules']): number[] =>
  rules.length === 0 ? [] : (results.at(-1)?.rows ?? []).map(([sinceUs]) => Number(sinceUs));
