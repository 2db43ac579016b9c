-- Events get a position in the order of commits and keys for each filter, and statistics get rollups.

-- CreateTable
CREATE TABLE "event_log" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "position" BIGINT NOT NULL,
    "events" BIGINT NOT NULL,
    "rebuilds" BIGINT NOT NULL,
    "pruned_before_us" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "event_control_names" (
    "name_key" TEXT NOT NULL PRIMARY KEY,
    "control_name" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "event_rollups" (
    "agent_name" TEXT NOT NULL,
    "unit_s" INTEGER NOT NULL,
    "start_s" BIGINT NOT NULL,
    "control_id" INTEGER NOT NULL,
    "name_key" TEXT NOT NULL,
    "executions" BIGINT NOT NULL,
    "matches" BIGINT NOT NULL,
    "non_matches" BIGINT NOT NULL,
    "errors" BIGINT NOT NULL,
    "denies" BIGINT NOT NULL,
    "steers" BIGINT NOT NULL,
    "observes" BIGINT NOT NULL,
    "confidence_nano" BIGINT NOT NULL,
    "durations" BIGINT NOT NULL,
    "duration_high" BIGINT NOT NULL,
    "duration_low" BIGINT NOT NULL,

    PRIMARY KEY ("agent_name", "unit_s", "start_s", "control_id", "name_key")
) WITHOUT ROWID;

-- CreateTable
CREATE TABLE "new_events" (
    "position" BIGINT NOT NULL PRIMARY KEY,
    "control_execution_id" TEXT NOT NULL,
    "time_us" BIGINT NOT NULL,
    "time_text" TEXT NOT NULL,
    "trace_key" BIGINT NOT NULL,
    "trace_id" TEXT NOT NULL,
    "span_key" BIGINT,
    "span_id" TEXT NOT NULL,
    "agent_name" TEXT NOT NULL,
    "control_id" INTEGER NOT NULL,
    "control_name" TEXT NOT NULL,
    "name_key" TEXT,
    "facets" INTEGER NOT NULL,
    "origin" INTEGER NOT NULL,
    "confidence" REAL NOT NULL,
    "duration_ms" REAL,
    "evaluator_name" TEXT,
    "selector_path" TEXT,
    "error_message" TEXT,
    "metadata" TEXT NOT NULL
);

-- What is there may be of clients or of the service itself; it takes in nothing any more (origin 3).
-- SQLite has no SHA-256: long names get keys of another kind, and old spans none.
INSERT INTO "new_events"
SELECT ROW_NUMBER() OVER (ORDER BY "time_us", "control_execution_id"), "control_execution_id", "time_us", "time_text",
    ("trace_key" >> 16) & 281474976710655, "trace_id", NULL, "span_id", "agent_name", "control_id", "control_name",
    CASE WHEN length("control_name") > 64 THEN 'migrated:' || printf('%060d', MIN(rowid) OVER (PARTITION BY "control_name")) END,
    CASE WHEN "matched" THEN 1 ELSE 0 END + CASE "check_stage" WHEN 'post' THEN 2 ELSE 0 END
        + CASE "applies_to" WHEN 'tool_call' THEN 4 ELSE 0 END
        + CASE "action" WHEN 'steer' THEN 8 WHEN 'observe' THEN 16 ELSE 0 END,
    3, "confidence", "duration_ms", "evaluator_name", "selector_path", "error_message", "metadata"
FROM "events";

DROP TABLE "events";
ALTER TABLE "new_events" RENAME TO "events";

-- CreateIndex
CREATE UNIQUE INDEX "events_control_execution_id_key" ON "events"("control_execution_id");

-- CreateIndex
CREATE INDEX "events_agent_name_time_us_position_facets_idx" ON "events"("agent_name", "time_us", "position", "facets");

-- CreateIndex
CREATE INDEX "events_control_id_time_us_position_facets_idx" ON "events"("control_id", "time_us", "position", "facets");

-- CreateIndex
CREATE INDEX "events_time_us_position_facets_idx" ON "events"("time_us", "position", "facets");

-- CreateIndex
CREATE INDEX "events_trace_key_idx" ON "events"("trace_key");

-- CreateIndex
CREATE INDEX "events_span_key_idx" ON "events"("span_key");

-- CreateIndex
CREATE INDEX "event_rollups_unit_s_start_s_idx" ON "event_rollups"("unit_s", "start_s");

INSERT INTO "event_control_names"
SELECT DISTINCT "name_key", "control_name" FROM "events" WHERE "name_key" IS NOT NULL;

INSERT INTO "event_log" SELECT 1, COUNT(*), COUNT(*), 0, -1000000000000000000 FROM "events";

-- Backfill: the rollups of every event that is there, at every length of the unit.
INSERT INTO "event_rollups"
WITH "units" ("unit_s") AS (VALUES (1), (60), (3600), (86400)),
"rows" AS (
    SELECT *, ("time_us" - ("time_us" % 1000000 + 1000000) % 1000000) / 1000000 AS "second" FROM "events"
)
SELECT "agent_name", "unit_s", "second" - ("second" % "unit_s" + "unit_s") % "unit_s", "control_id",
    COALESCE("name_key", "control_name"), COUNT(*),
    COUNT(*) FILTER (WHERE "facets" & 1 = 1 AND "error_message" IS NULL),
    COUNT(*) FILTER (WHERE "facets" & 1 = 0 AND "error_message" IS NULL),
    COUNT("error_message"),
    COUNT(*) FILTER (WHERE "facets" & 25 = 1),
    COUNT(*) FILTER (WHERE "facets" & 25 = 9),
    COUNT(*) FILTER (WHERE "facets" & 25 = 17),
    CAST(SUM(CAST(ROUND("confidence" * 1000000000.0) AS BIGINT)) AS BIGINT),
    COUNT("duration_ms"),
    CAST(SUM(CAST(CASE WHEN "duration_ms" >= 65536 THEN floor("duration_ms" / 65536.0) ELSE 0 END AS BIGINT)) AS BIGINT),
    CAST(COALESCE(SUM(CAST(ROUND(("duration_ms" - 65536.0 * CASE WHEN "duration_ms" >= 65536 THEN floor("duration_ms" / 65536.0) ELSE 0 END) * 1000000.0) AS BIGINT)), 0) AS BIGINT)
FROM "rows" CROSS JOIN "units"
GROUP BY 1, 2, 3, 4, 5;
