-- CreateTable
CREATE TABLE "applied_objects" (
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "key" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "applied_at_ms" BIGINT NOT NULL,

    PRIMARY KEY ("namespace", "key")
);

-- CreateTable
CREATE TABLE "sampling_rules" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "agent_name" TEXT,
    "control_id" INTEGER,
    "share" REAL NOT NULL,
    "masked_paths" TEXT NOT NULL,
    "masked_patterns" TEXT NOT NULL,
    "max_bytes" INTEGER NOT NULL,
    "retention_hours" INTEGER NOT NULL,
    "ends_at_ms" BIGINT,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT NOT NULL,
    "dropped_samples" BIGINT NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "step_samples" (
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "decision_id" TEXT NOT NULL,
    "rule_id" INTEGER NOT NULL,
    "agent_name" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "step_type" TEXT NOT NULL,
    "step_name" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "taken_at_ms" BIGINT NOT NULL,
    "expires_at_ms" BIGINT NOT NULL,
    "masked_values" INTEGER NOT NULL,
    "content" TEXT NOT NULL,

    PRIMARY KEY ("namespace", "decision_id")
);

-- CreateTable
CREATE TABLE "control_shadows" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "control_id" INTEGER NOT NULL,
    "data" TEXT NOT NULL,
    "share" REAL NOT NULL,
    "share_by" TEXT NOT NULL,
    "set_at_ms" BIGINT NOT NULL,
    "set_by" TEXT,
    "base_version" INTEGER NOT NULL,
    "both_matched" BIGINT NOT NULL DEFAULT 0,
    "neither_matched" BIGINT NOT NULL DEFAULT 0,
    "only_live_matched" BIGINT NOT NULL DEFAULT 0,
    "only_shadow_matched" BIGINT NOT NULL DEFAULT 0,
    "live_failed" BIGINT NOT NULL DEFAULT 0,
    "shadow_failed" BIGINT NOT NULL DEFAULT 0,
    "left_out" BIGINT NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "shadow_differences" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "shadow_id" INTEGER NOT NULL,
    "decision_id" TEXT NOT NULL,
    "agent_name" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "step_type" TEXT NOT NULL,
    "step_name" TEXT NOT NULL,
    "shadow_matched" BOOLEAN NOT NULL,
    "message" TEXT,
    "at_ms" BIGINT NOT NULL,
    CONSTRAINT "shadow_differences_shadow_id_fkey" FOREIGN KEY ("shadow_id") REFERENCES "control_shadows" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateIndex
CREATE INDEX "applied_objects_namespace_owner_idx" ON "applied_objects"("namespace", "owner");

-- CreateIndex
CREATE INDEX "sampling_rules_namespace_id_idx" ON "sampling_rules"("namespace", "id");

-- CreateIndex
CREATE INDEX "step_samples_namespace_taken_at_ms_idx" ON "step_samples"("namespace", "taken_at_ms");

-- CreateIndex
CREATE INDEX "step_samples_namespace_agent_name_taken_at_ms_idx" ON "step_samples"("namespace", "agent_name", "taken_at_ms");

-- CreateIndex
CREATE INDEX "step_samples_namespace_rule_id_idx" ON "step_samples"("namespace", "rule_id");

-- CreateIndex
CREATE INDEX "step_samples_expires_at_ms_idx" ON "step_samples"("expires_at_ms");

-- CreateIndex
CREATE UNIQUE INDEX "control_shadows_control_id_key" ON "control_shadows"("control_id");

-- CreateIndex
CREATE INDEX "control_shadows_namespace_control_id_idx" ON "control_shadows"("namespace", "control_id");

-- CreateIndex
CREATE INDEX "shadow_differences_shadow_id_id_idx" ON "shadow_differences"("shadow_id", "id");
