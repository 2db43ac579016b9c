import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { readMigrations } from '../../../src/storage/database/migration-files.js';
import type { DatabaseKind } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';

/** The last migration of the last release. */
const LANDED = '20261205000000_event_steps';

export const LANDED_AGENTS = 5;
export const LANDED_CONTROLS = 4;
export const landedAgent = (index: number) => `landed-bot-0${index % LANDED_AGENTS}`;
export const landedId = (position: number) => `landed-${position}`;
export const landedTrace = (position: number) => `landed-trace-${Math.floor(position / 10)}`;

const CHUNK = 50_000;
const DAY_S = 86_400;
/** Unit lengths of the rollups of that release, and how long each is kept, in seconds. */
const LEVELS = [
  [1, 7_200],
  [60, 8 * DAY_S],
  [3_600, 400 * DAY_S],
  [DAY_S, 400 * DAY_S],
] as const;

export interface LandedEvents {
  readonly count: number;
  /** They are evenly spread over this many days. */
  readonly days: number;
  /** The end of these days. */
  readonly nowMs: number;
}

/**
 * Creates the database of the last release with events in it, by the SQL of that release: nothing of it may depend on
 * what the sources do now. Every third event is a matched deny, the others are observed without a match; the keys of
 * the traces are not those of the service, so these events are not found by their trace.
 */
export async function createLandedEvents(
  kind: DatabaseKind,
  url: string,
  { count, days, nowMs }: LandedEvents,
): Promise<void> {
  await migrate(
    parseDatabaseUrl(url),
    readMigrations(kind).filter(({ name }) => name <= LANDED),
  );
  const stepUs = Math.floor((days * DAY_S * 1e6) / count);
  const us = `(CAST(${nowMs}000 AS BIGINT) - CAST(${count} - "i" AS BIGINT) * ${stepUs})`;
  const isSqlite = kind === 'sqlite';
  for (let from = 1; from <= count; from += CHUNK) {
    const to = Math.min(count, from + CHUNK - 1);
    const series = isSqlite
      ? `WITH RECURSIVE "n" ("i") AS (SELECT ${from} UNION ALL SELECT "i" + 1 FROM "n" WHERE "i" < ${to})`
      : `WITH "n" ("i") AS (SELECT generate_series(CAST(${from} AS BIGINT), ${to}))`;
    const time = isSqlite
      ? `strftime('%Y-%m-%dT%H:%M:%S', ${us} / 1000000, 'unixepoch') || 'Z'`
      : `to_char(to_timestamp(${us} / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
    await executeSql(
      url,
      `INSERT INTO "events" ("position", "control_execution_id", "time_us", "time_text", "trace_key", "trace_id",
        "span_key", "span_id", "agent_name", "control_id", "control_name", "facets", "origin", "confidence",
        "duration_ms", "metadata")
      ${series}
      SELECT "i", 'landed-' || "i", ${us}, ${time}, ("i" * 7919) % 281474976710656, 'landed-trace-' || ("i" / 10),
        ("i" * 104729) % 281474976710656, 'landed-span-' || "i", 'landed-bot-0' || ("i" % ${LANDED_AGENTS}),
        ("i" / ${LANDED_AGENTS}) % ${LANDED_CONTROLS}, 'landed', CASE "i" % 3 WHEN 0 THEN 1 ELSE 16 END, 0, 0.5, 1.5,
        '{}'
      FROM "n"`,
    );
  }
  const nowS = Math.floor(nowMs / 1000);
  for (const [unitS, keptS] of LEVELS) {
    await executeSql(
      url,
      `INSERT INTO "event_rollups" ("agent_name", "unit_s", "start_s", "control_id", "name_key", "executions", "matches",
        "non_matches", "errors", "denies", "steers", "observes", "confidence_nano", "durations", "duration_high",
        "duration_low")
      SELECT "agent_name", ${unitS}, "time_us" / 1000000 - ("time_us" / 1000000) % ${unitS}, "control_id", 'landed',
        COUNT(*), SUM("facets" % 2), SUM(1 - "facets" % 2), 0, SUM("facets" % 2), 0, 0, COUNT(*) * 500000000, COUNT(*),
        0, COUNT(*) * 1500000
      FROM "events" WHERE "time_us" >= CAST(${nowS - keptS} AS BIGINT) * 1000000 GROUP BY 1, 3, 4`,
    );
  }
  await executeSql(url, `UPDATE "event_log" SET "position" = ${count}, "events" = ${count}`);
}
