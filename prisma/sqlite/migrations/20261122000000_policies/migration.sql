-- CreateTable
CREATE TABLE "policies" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "policy_controls" (
    "policy_id" INTEGER NOT NULL,
    "control_id" INTEGER NOT NULL,

    PRIMARY KEY ("policy_id", "control_id"),
    CONSTRAINT "policy_controls_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies" ("id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "policy_controls_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "agent_policies" (
    "agent_id" INTEGER NOT NULL,
    "policy_id" INTEGER NOT NULL,

    PRIMARY KEY ("agent_id", "policy_id"),
    CONSTRAINT "agent_policies_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents" ("id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "agent_policies_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateIndex
CREATE UNIQUE INDEX "policies_name_key" ON "policies"("name");

-- CreateIndex
CREATE INDEX "policy_controls_control_id_idx" ON "policy_controls"("control_id");

-- CreateIndex
CREATE INDEX "agent_policies_policy_id_idx" ON "agent_policies"("policy_id");
