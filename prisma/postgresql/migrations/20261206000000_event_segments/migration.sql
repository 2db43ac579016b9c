-- Events are in several tables, so that the indexes of the one that is written stay small. Events that are there
-- already are moved later, while the service runs.

-- AlterTable
ALTER TABLE "event_log" ADD COLUMN "generation" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "event_segments" (
    "number" INTEGER NOT NULL,
    "first_position" BIGINT NOT NULL,
    "last_position" BIGINT NOT NULL,
    "is_old" INTEGER NOT NULL,
    "filter" TEXT,

    CONSTRAINT "event_segments_pkey" PRIMARY KEY ("number")
);

-- All events. The service adds a table whenever it closes one.
CREATE VIEW "all_events" AS SELECT
    "position", "control_execution_id", "time_us", "time_text", "trace_key", "trace_id", "span_key", "span_id",
    "agent_name", "control_id", "control_name", "name_key", "facets", "origin", "confidence", "duration_ms",
    "evaluator_name", "selector_path", "error_message", "metadata", "step_type", "step_name", "session_id", "step_id",
    "revision", "decision_id"
FROM "events";
