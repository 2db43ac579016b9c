-- When agents were used last, so that a process loads these first.

-- CreateTable
CREATE TABLE "agent_uses" (
    "agent_name" TEXT NOT NULL,
    "used_at_ms" BIGINT NOT NULL,

    CONSTRAINT "agent_uses_pkey" PRIMARY KEY ("agent_name")
);

-- CreateIndex
CREATE INDEX "agent_uses_used_at_ms_idx" ON "agent_uses"("used_at_ms");
