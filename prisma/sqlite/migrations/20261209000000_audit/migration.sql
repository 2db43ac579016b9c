-- The audit log: one entry for each change, in a chain of hashes.

-- CreateTable
CREATE TABLE "audit_entries" (
    "position" BIGINT NOT NULL PRIMARY KEY,
    "revision" BIGINT,
    "time_ms" BIGINT NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_name" TEXT,
    "key_fingerprint" TEXT,
    "address" TEXT,
    "request_id" TEXT,
    "action" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "resource_id" TEXT,
    "resource_name" TEXT,
    "previous_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "before" TEXT,
    "after" TEXT
);

-- CreateIndex
CREATE INDEX "audit_entries_time_ms_idx" ON "audit_entries"("time_ms");

-- CreateIndex
CREATE INDEX "audit_entries_resource_resource_id_position_idx" ON "audit_entries"("resource", "resource_id", "position");

-- AlterTable
ALTER TABLE "service_state" ADD COLUMN "audit_position" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "service_state" ADD COLUMN "audit_hash" TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';
ALTER TABLE "service_state" ADD COLUMN "audit_anchor_position" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "service_state" ADD COLUMN "audit_anchor_hash" TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';

-- Entries are only ever added, and pruned up to the anchor. The models cannot express triggers.
CREATE TRIGGER "audit_entries_no_update" BEFORE UPDATE ON "audit_entries"
BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are never changed');
END;
CREATE TRIGGER "audit_entries_no_delete" BEFORE DELETE ON "audit_entries"
WHEN OLD."position" > (SELECT "audit_anchor_position" FROM "service_state" WHERE "id" = 1)
BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are only deleted up to its anchor');
END;
