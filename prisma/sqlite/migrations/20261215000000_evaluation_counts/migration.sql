-- Numbers of evaluations by agent and unit of time, and when agents and controls were last active.

-- CreateTable
CREATE TABLE "evaluation_counts" (
    "agent_name" TEXT NOT NULL,
    "unit_s" INTEGER NOT NULL,
    "start_s" BIGINT NOT NULL,
    "evaluated" BIGINT NOT NULL,
    "denied" BIGINT NOT NULL,
    "steered" BIGINT NOT NULL,
    "denied_by_error" BIGINT NOT NULL,
    "observed" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,

    PRIMARY KEY ("agent_name", "unit_s", "start_s")
);

-- CreateTable
CREATE TABLE "evaluation_count_writers" (
    "writer_id" TEXT NOT NULL PRIMARY KEY,
    "batch" BIGINT NOT NULL,
    "written_at_s" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "evaluation_counting" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "since_s" BIGINT NOT NULL,
    "pruning_at_s" BIGINT NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "agent_activity" (
    "agent_name" TEXT NOT NULL PRIMARY KEY,
    "last_evaluated_s" BIGINT NOT NULL,
    "last_denied_s" BIGINT
);

-- CreateTable
CREATE TABLE "control_activity" (
    "control_id" INTEGER NOT NULL PRIMARY KEY,
    "last_matched_s" BIGINT,
    "last_denied_s" BIGINT,
    "last_failed_s" BIGINT
);

-- CreateIndex
CREATE INDEX "evaluation_counts_unit_s_start_s_idx" ON "evaluation_counts"("unit_s", "start_s");

-- CreateIndex
CREATE INDEX "evaluation_count_writers_written_at_s_idx" ON "evaluation_count_writers"("written_at_s");
