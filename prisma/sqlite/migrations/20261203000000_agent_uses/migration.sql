-- When agents were used last, so that a process loads these first.

-- CreateTable
CREATE TABLE "agent_uses" (
    "agent_name" TEXT NOT NULL PRIMARY KEY,
    "used_at_ms" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "agent_uses_used_at_ms_idx" ON "agent_uses"("used_at_ms");
