-- The row that a process holds while it writes events to ClickHouse.

-- CreateTable
CREATE TABLE "event_store_lease" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "owner" TEXT NOT NULL,
    "expires_at_ms" BIGINT NOT NULL,
    "wanted_at_ms" BIGINT NOT NULL,
    "position" BIGINT NOT NULL,
    "batch" BIGINT NOT NULL,
    "pending_batch" BIGINT NOT NULL,
    "pruned_before_us" BIGINT NOT NULL,
    "pruned_up_to" BIGINT NOT NULL,
    "pruned_position" BIGINT NOT NULL,
    "pruning_at_ms" BIGINT NOT NULL
);

INSERT INTO "event_store_lease" VALUES (1, '', 0, 0, 0, 0, 0, -1000000000000000000, 0, 0, 0);
