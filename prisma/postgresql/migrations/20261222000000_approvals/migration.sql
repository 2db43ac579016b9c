-- CreateTable
CREATE TABLE "approvals" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL,
    "agent_name" TEXT COLLATE "C" NOT NULL,
    "session_id" TEXT COLLATE "C",
    "step_id" TEXT COLLATE "C",
    "target_type" TEXT COLLATE "C",
    "target_id" TEXT COLLATE "C",
    "step_type" TEXT COLLATE "C" NOT NULL,
    "step_name" TEXT COLLATE "C" NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL,
    "live_key" TEXT COLLATE "C",
    "binding" TEXT COLLATE "C" NOT NULL,
    "narrowed_binding" TEXT COLLATE "C",
    "step_sha256" TEXT COLLATE "C" NOT NULL,
    "question" TEXT NOT NULL,
    "controls" TEXT NOT NULL,
    "approvers" TEXT NOT NULL,
    "approver_group" TEXT COLLATE "C" NOT NULL,
    "reuse" TEXT COLLATE "C" NOT NULL,
    "asked_by" TEXT COLLATE "C" NOT NULL,
    "asked_by_key" TEXT COLLATE "C",
    "asked_at_ms" BIGINT NOT NULL,
    "expires_at_ms" BIGINT NOT NULL,
    "decided_at_ms" BIGINT,
    "used_at_ms" BIGINT,
    "ended_at_ms" BIGINT,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "used_call" TEXT COLLATE "C",
    "end_reason" TEXT,
    "step" TEXT,
    "narrowed_step" TEXT,
    "explanations" TEXT,
    "change_no" BIGINT NOT NULL,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval_controls" (
    "approval_id" INTEGER NOT NULL,
    "control_id" INTEGER NOT NULL,
    "version_num" INTEGER NOT NULL,

    CONSTRAINT "approval_controls_pkey" PRIMARY KEY ("approval_id","control_id")
);

-- CreateTable
CREATE TABLE "approval_votes" (
    "approval_id" INTEGER NOT NULL,
    "person" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C",
    "role" TEXT COLLATE "C",
    "key_fingerprint" TEXT COLLATE "C",
    "decision" TEXT COLLATE "C" NOT NULL,
    "at_ms" BIGINT NOT NULL,
    "address" TEXT COLLATE "C",
    "comment" TEXT,
    "step_sha256" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "approval_votes_pkey" PRIMARY KEY ("approval_id","person")
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

-- AddForeignKey
ALTER TABLE "approval_controls" ADD CONSTRAINT "approval_controls_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approvals"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "approval_votes" ADD CONSTRAINT "approval_votes_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approvals"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
