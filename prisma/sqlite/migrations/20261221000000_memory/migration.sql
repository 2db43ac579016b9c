-- CreateTable
CREATE TABLE "halts" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "scope" TEXT NOT NULL,
    "agent_name" TEXT,
    "session_id" TEXT,
    "step_name" TEXT,
    "reason" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT NOT NULL,
    "expires_at_ms" BIGINT,
    "lifted_at_ms" BIGINT,
    "lifted_by" TEXT,
    "lift_reason" TEXT
);

-- CreateTable
CREATE TABLE "memory_cells" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "namespace" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "generation" BIGINT NOT NULL,
    "checkpoint" TEXT,
    "checkpoint_version" BIGINT NOT NULL DEFAULT 0,
    "expires_at_us" BIGINT NOT NULL,
    "used_at_us" BIGINT NOT NULL,
    "used" REAL NOT NULL DEFAULT 0,
    "bytes" INTEGER NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "memory_entries" (
    "cell_id" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "entry" TEXT NOT NULL,
    "at_us" BIGINT NOT NULL,

    PRIMARY KEY ("cell_id", "version")
);

-- CreateTable
CREATE TABLE "memory_rules" (
    "namespace" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "since_us" BIGINT NOT NULL,
    "seen_at_us" BIGINT NOT NULL,

    PRIMARY KEY ("namespace", "rule")
);

-- CreateTable
CREATE TABLE "memory_clock" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "offset_us" BIGINT NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    "epoch" TEXT NOT NULL,
    "hash_key" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "memory_evictions" (
    "namespace" TEXT NOT NULL PRIMARY KEY,
    "keys" BIGINT NOT NULL DEFAULT 0
);

-- CreateIndex
CREATE INDEX "halts_namespace_id_idx" ON "halts"("namespace", "id");

-- CreateIndex
CREATE INDEX "halts_lifted_at_ms_expires_at_ms_idx" ON "halts"("lifted_at_ms", "expires_at_ms");

-- CreateIndex
CREATE INDEX "memory_cells_namespace_idx" ON "memory_cells"("namespace");

-- CreateIndex
CREATE INDEX "memory_cells_expires_at_us_idx" ON "memory_cells"("expires_at_us");

-- CreateIndex
CREATE INDEX "memory_entries_at_us_idx" ON "memory_entries"("at_us");
