-- The audit log: one entry for each change, in a chain of hashes.

-- CreateTable
CREATE TABLE "audit_entries" (
    "position" BIGINT NOT NULL,
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
    "after" TEXT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("position")
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
CREATE FUNCTION "audit_entries_refuse"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD."position" <= (SELECT "audit_anchor_position" FROM "service_state" WHERE "id" = 1) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'entries of the audit log are never changed, and only deleted up to its anchor';
END;
$$;
CREATE TRIGGER "audit_entries_no_change" BEFORE UPDATE OR DELETE ON "audit_entries"
    FOR EACH ROW EXECUTE FUNCTION "audit_entries_refuse"();
CREATE TRIGGER "audit_entries_no_truncate" BEFORE TRUNCATE ON "audit_entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "audit_entries_refuse"();
