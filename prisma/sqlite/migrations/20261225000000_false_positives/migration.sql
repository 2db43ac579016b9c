-- CreateTable
CREATE TABLE "false_positives" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "control_id" INTEGER NOT NULL,
    "control_execution_id" TEXT NOT NULL,
    "agent_name" TEXT NOT NULL,
    "decision_id" TEXT,
    "matched_at_ms" BIGINT NOT NULL,
    "note" TEXT,
    "marked_by" TEXT NOT NULL,
    "marked_at_ms" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "false_positives_namespace_id_idx" ON "false_positives"("namespace", "id");

-- CreateIndex
CREATE INDEX "false_positives_namespace_decision_id_idx" ON "false_positives"("namespace", "decision_id");

-- CreateIndex
CREATE UNIQUE INDEX "false_positives_namespace_control_id_control_execution_id_key" ON "false_positives"("namespace", "control_id", "control_execution_id");
