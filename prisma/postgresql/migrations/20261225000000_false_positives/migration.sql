-- CreateTable
CREATE TABLE "false_positives" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "control_id" INTEGER NOT NULL,
    "control_execution_id" TEXT COLLATE "C" NOT NULL,
    "agent_name" TEXT COLLATE "C" NOT NULL,
    "decision_id" TEXT COLLATE "C",
    "matched_at_ms" BIGINT NOT NULL,
    "note" TEXT,
    "marked_by" TEXT NOT NULL,
    "marked_at_ms" BIGINT NOT NULL,

    CONSTRAINT "false_positives_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "false_positives_namespace_id_idx" ON "false_positives"("namespace", "id");

-- CreateIndex
CREATE INDEX "false_positives_namespace_decision_id_idx" ON "false_positives"("namespace", "decision_id");

-- CreateIndex
CREATE UNIQUE INDEX "false_positives_namespace_control_id_control_execution_id_key" ON "false_positives"("namespace", "control_id", "control_execution_id");
