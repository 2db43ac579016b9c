-- CreateTable
CREATE TABLE "events" (
    "control_execution_id" TEXT NOT NULL PRIMARY KEY,
    "time_us" BIGINT NOT NULL,
    "time_text" TEXT NOT NULL,
    "trace_key" BIGINT NOT NULL,
    "trace_id" TEXT NOT NULL,
    "span_id" TEXT NOT NULL,
    "agent_name" TEXT NOT NULL,
    "control_id" INTEGER NOT NULL,
    "control_name" TEXT NOT NULL,
    "check_stage" TEXT NOT NULL,
    "applies_to" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "matched" BOOLEAN NOT NULL,
    "confidence" REAL NOT NULL,
    "duration_ms" REAL,
    "evaluator_name" TEXT,
    "selector_path" TEXT,
    "error_message" TEXT,
    "metadata" TEXT NOT NULL
);

-- CreateIndex
CREATE INDEX "events_agent_name_time_us_idx" ON "events"("agent_name", "time_us");

-- CreateIndex
CREATE INDEX "events_control_id_time_us_idx" ON "events"("control_id", "time_us");

-- CreateIndex
CREATE INDEX "events_trace_key_idx" ON "events"("trace_key");

-- CreateIndex
CREATE INDEX "events_time_us_idx" ON "events"("time_us");
