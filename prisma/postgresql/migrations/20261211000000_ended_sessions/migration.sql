-- Browser sessions that were ended before they expired.

-- CreateTable
CREATE TABLE "ended_sessions" (
    "id" TEXT NOT NULL,
    "ended_at_ms" BIGINT NOT NULL,
    "expires_at_ms" BIGINT NOT NULL,

    CONSTRAINT "ended_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ended_sessions_ended_at_ms_idx" ON "ended_sessions"("ended_at_ms");

-- CreateIndex
CREATE INDEX "ended_sessions_expires_at_ms_idx" ON "ended_sessions"("expires_at_ms");
