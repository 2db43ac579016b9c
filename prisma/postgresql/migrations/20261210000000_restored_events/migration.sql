-- The positions that were given away by a state of the database that was replaced by an earlier one.

-- AlterTable
ALTER TABLE "event_log" ADD COLUMN     "restored_from" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "restored_to" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "event_store_lease" ADD COLUMN     "restored_from" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "restored_to" BIGINT NOT NULL DEFAULT 0;
