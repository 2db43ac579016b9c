-- CreateTable
CREATE TABLE "approvals" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL,
    "agent_name" TEXT NOT NULL,
    "session_id" TEXT,
    "step_id" TEXT,
    "target_type" TEXT,
    "target_id" TEXT,
    "step_type" TEXT NOT NULL,
    "step_name" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "live_key" TEXT,
    "binding" TEXT NOT NULL,
    "narrowed_binding" TEXT,
    "step_sha256" TEXT NOT NULL,
    "question" TEXT NOT NULL,
    "controls" TEXT NOT NULL,
    "approvers" TEXT NOT NULL,
    "approver_group" TEXT NOT NULL,
    "reuse" TEXT NOT NULL,
    "asked_by" TEXT NOT NULL,
    "asked_by_key" TEXT,
    "asked_at_ms" BIGINT NOT NULL,
    "expires_at_ms" BIGINT NOT NULL,
    "decided_at_ms" BIGINT,
    "used_at_ms" BIGINT,
    "ended_at_ms" BIGINT,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "used_call" TEXT,
    "end_reason" TEXT,
    "step" TEXT,
    "narrowed_step" TEXT,
    "explanations" TEXT,
    "change_no" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "approval_controls" (
    "approval_id" INTEGER NOT NULL,
    "control_id" INTEGER NOT NULL,
    "version_num" INTEGER NOT NULL,

    PRIMARY KEY ("approval_id", "control_id"),
    CONSTRAINT "approval_controls_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approvals" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "approval_votes" (
    "approval_id" INTEGER NOT NULL,
    "person" TEXT NOT NULL,
    "name" TEXT,
    "role" TEXT,
    "key_fingerprint" TEXT,
    "decision" TEXT NOT NULL,
    "at_ms" BIGINT NOT NULL,
    "address" TEXT,
    "comment" TEXT,
    "step_sha256" TEXT NOT NULL,

    PRIMARY KEY ("approval_id", "person"),
    CONSTRAINT "approval_votes_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approvals" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateIndex
CREATE UNIQUE INDEX "approvals_live_key_key" ON "approvals"("live_key");

-- CreateIndex
CREATE INDEX "approvals_namespace_id_idx" ON "approvals"("namespace", "id");

-- CreateIndex
CREATE INDEX "approvals_namespace_agent_name_state_idx" ON "approvals"("namespace", "agent_name", "state");

-- CreateIndex
CREATE INDEX "approvals_namespace_approver_group_asked_at_ms_idx" ON "approvals"("namespace", "approver_group", "asked_at_ms");

-- CreateIndex
CREATE INDEX "approvals_state_expires_at_ms_idx" ON "approvals"("state", "expires_at_ms");

-- CreateIndex
CREATE INDEX "approvals_ended_at_ms_idx" ON "approvals"("ended_at_ms");

-- CreateIndex
CREATE INDEX "approvals_binding_used_call_idx" ON "approvals"("binding", "used_call");

-- CreateIndex
CREATE INDEX "approvals_narrowed_binding_idx" ON "approvals"("narrowed_binding");

-- CreateIndex
CREATE INDEX "approvals_change_no_id_idx" ON "approvals"("change_no", "id");

-- CreateIndex
CREATE INDEX "approval_controls_control_id_idx" ON "approval_controls"("control_id");

-- CreateIndex
CREATE INDEX "approval_votes_person_idx" ON "approval_votes"("person");
