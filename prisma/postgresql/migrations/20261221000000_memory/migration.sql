-- CreateTable
CREATE TABLE "halts" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "scope" TEXT COLLATE "C" NOT NULL,
    "agent_name" TEXT COLLATE "C",
    "session_id" TEXT COLLATE "C",
    "step_name" TEXT COLLATE "C",
    "reason" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT COLLATE "C" NOT NULL,
    "expires_at_ms" BIGINT,
    "lifted_at_ms" BIGINT,
    "lifted_by" TEXT COLLATE "C",
    "lift_reason" TEXT,

    CONSTRAINT "halts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_cells" (
    "id" TEXT COLLATE "C" NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL,
    "label" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "generation" BIGINT NOT NULL,
    "checkpoint" TEXT,
    "checkpoint_version" BIGINT NOT NULL DEFAULT 0,
    "expires_at_us" BIGINT NOT NULL,
    "used_at_us" BIGINT NOT NULL,
    "used" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "bytes" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "memory_cells_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "memory_entries" (
    "cell_id" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL,
    "entry" TEXT NOT NULL,
    "at_us" BIGINT NOT NULL,

    CONSTRAINT "memory_entries_pkey" PRIMARY KEY ("cell_id","version")
);

-- CreateTable
CREATE TABLE "memory_rules" (
    "namespace" TEXT COLLATE "C" NOT NULL,
    "rule" TEXT COLLATE "C" NOT NULL,
    "since_us" BIGINT NOT NULL,
    "seen_at_us" BIGINT NOT NULL,

    CONSTRAINT "memory_rules_pkey" PRIMARY KEY ("namespace","rule")
);

-- CreateTable
CREATE TABLE "memory_clock" (
    "id" INTEGER NOT NULL,
    "offset_us" BIGINT NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    "epoch" TEXT NOT NULL,
    "hash_key" TEXT NOT NULL,

    CONSTRAINT "memory_clock_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_evictions" (
    "namespace" TEXT COLLATE "C" NOT NULL,
    "keys" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "memory_evictions_pkey" PRIMARY KEY ("namespace")
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
