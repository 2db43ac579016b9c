-- CreateTable
CREATE TABLE "agent_coverage" (
    "agent_id" INTEGER NOT NULL,
    "point" TEXT COLLATE "C" NOT NULL,
    "stage" TEXT COLLATE "C" NOT NULL,
    "step_type" TEXT COLLATE "C" NOT NULL,
    "step_name" TEXT COLLATE "C" NOT NULL,
    "evaluated" BIGINT NOT NULL,
    "first_seen_s" BIGINT NOT NULL,
    "last_seen_s" BIGINT NOT NULL,

    CONSTRAINT "agent_coverage_pkey" PRIMARY KEY ("agent_id", "point", "stage", "step_type", "step_name")
);

-- CreateTable
CREATE TABLE "agent_expectations" (
    "agent_id" INTEGER NOT NULL,
    "point" TEXT COLLATE "C" NOT NULL,
    "interval_s" BIGINT NOT NULL,
    "since_s" BIGINT NOT NULL,
    "overdue_s" BIGINT,

    CONSTRAINT "agent_expectations_pkey" PRIMARY KEY ("agent_id", "point")
);

-- CreateIndex
CREATE INDEX "agent_coverage_last_seen_s_idx" ON "agent_coverage"("last_seen_s");

-- AddForeignKey
ALTER TABLE "agent_coverage" ADD CONSTRAINT "agent_coverage_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "agent_expectations" ADD CONSTRAINT "agent_expectations_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
