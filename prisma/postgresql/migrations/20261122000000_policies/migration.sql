-- Names compare and sort by their bytes, as they do on SQLite, whatever the locale of the database.

-- CreateTable
CREATE TABLE "policies" (
    "id" SERIAL NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "created_at_ms" BIGINT NOT NULL,

    CONSTRAINT "policies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "policy_controls" (
    "policy_id" INTEGER NOT NULL,
    "control_id" INTEGER NOT NULL,

    CONSTRAINT "policy_controls_pkey" PRIMARY KEY ("policy_id","control_id")
);

-- CreateTable
CREATE TABLE "agent_policies" (
    "agent_id" INTEGER NOT NULL,
    "policy_id" INTEGER NOT NULL,

    CONSTRAINT "agent_policies_pkey" PRIMARY KEY ("agent_id","policy_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "policies_name_key" ON "policies"("name");

-- CreateIndex
CREATE INDEX "policy_controls_control_id_idx" ON "policy_controls"("control_id");

-- CreateIndex
CREATE INDEX "agent_policies_policy_id_idx" ON "agent_policies"("policy_id");

-- AddForeignKey
ALTER TABLE "policy_controls" ADD CONSTRAINT "policy_controls_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "policy_controls" ADD CONSTRAINT "policy_controls_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "agent_policies" ADD CONSTRAINT "agent_policies_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "agent_policies" ADD CONSTRAINT "agent_policies_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
