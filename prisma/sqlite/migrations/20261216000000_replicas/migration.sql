-- The processes that serve this database, so that different versions beside each other are told.

-- CreateTable
CREATE TABLE "replicas" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "started_at_ms" BIGINT NOT NULL,
    "seen_at_ms" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "replicas_seen_at_ms_idx" ON "replicas"("seen_at_ms");
