-- How far events were pruned, and since when a process does it.

-- AlterTable
ALTER TABLE "event_log" ADD COLUMN "pruned_position" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "event_log" ADD COLUMN "pruning_at_ms" BIGINT NOT NULL DEFAULT 0;
