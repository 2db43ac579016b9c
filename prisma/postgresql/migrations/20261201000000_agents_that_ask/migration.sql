-- When a client first asked for the controls of an agent.

-- AlterTable
ALTER TABLE "agents" ADD COLUMN "controls_asked_at_ms" BIGINT;
