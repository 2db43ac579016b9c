-- CreateTable
CREATE TABLE "agent_coverage" (
    "agent_id" INTEGER NOT NULL,
    "point" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "step_type" TEXT NOT NULL,
    "step_name" TEXT NOT NULL,
    "evaluated" BIGINT NOT NULL,
    "first_seen_s" BIGINT NOT NULL,
    "last_seen_s" BIGINT NOT NULL,

    PRIMARY KEY ("agent_id", "point", "stage", "step_type", "step_name"),
    CONSTRAINT "agent_coverage_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "agent_expectations" (
    "agent_id" INTEGER NOT NULL,
    "point" TEXT NOT NULL,
    "interval_s" BIGINT NOT NULL,
    "since_s" BIGINT NOT NULL,
    "overdue_s" BIGINT,

    PRIMARY KEY ("agent_id", "point"),
    CONSTRAINT "agent_expectations_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateIndex
CREATE INDEX "agent_coverage_last_seen_s_idx" ON "agent_coverage"("last_seen_s");
