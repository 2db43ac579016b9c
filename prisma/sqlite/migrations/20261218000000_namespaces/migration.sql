-- Namespaces, keys, and controls that are bound to targets. What exists belongs to the namespace "default".
-- Incompatible before 20261121000000_agents_and_controls: none; a trigger is replaced by one with the same effect in "default"

-- CreateTable
CREATE TABLE "namespaces" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "display_name" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "deleted_at_ms" BIGINT
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "name" TEXT NOT NULL,
    "owner" TEXT,
    "role" TEXT,
    "scopes" TEXT,
    "agents" TEXT,
    "hash" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "previous_hash" TEXT,
    "previous_until_ms" BIGINT,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT,
    "expires_at_ms" BIGINT,
    "rotated_at_ms" BIGINT,
    "revoked_at_ms" BIGINT,
    "last_used_s" BIGINT
);

-- CreateTable
CREATE TABLE "control_bindings" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "target_type" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,
    "control_id" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "updated_at_ms" BIGINT NOT NULL,
    CONSTRAINT "control_bindings_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "namespace" TEXT NOT NULL,
    "rpc" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "result" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,

    PRIMARY KEY ("namespace", "rpc", "key_hash")
);

-- AlterTable
ALTER TABLE "agents" ADD COLUMN "namespace" TEXT NOT NULL DEFAULT 'default';

-- AlterTable
ALTER TABLE "controls" ADD COLUMN "namespace" TEXT NOT NULL DEFAULT 'default';

-- AlterTable
ALTER TABLE "policies" ADD COLUMN "namespace" TEXT NOT NULL DEFAULT 'default';

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "namespace" TEXT NOT NULL DEFAULT 'default';

-- AlterTable
ALTER TABLE "controls" ADD COLUMN "cloned_from_id" INTEGER;

-- AlterTable
ALTER TABLE "changes" ADD COLUMN "targets" TEXT;

-- AlterTable
ALTER TABLE "changes" ADD COLUMN "access" BOOLEAN;

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_previous_hash_key" ON "api_keys"("previous_hash");

-- CreateIndex
CREATE INDEX "api_keys_namespace_id_idx" ON "api_keys"("namespace", "id");

-- CreateIndex
CREATE INDEX "control_bindings_control_id_idx" ON "control_bindings"("control_id");

-- CreateIndex
CREATE INDEX "control_bindings_namespace_id_idx" ON "control_bindings"("namespace", "id");

-- CreateIndex
CREATE UNIQUE INDEX "control_bindings_namespace_target_type_target_id_control_id_key" ON "control_bindings"("namespace", "target_type", "target_id", "control_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_ms_idx" ON "idempotency_keys"("created_at_ms");

-- CreateIndex
CREATE INDEX "agents_namespace_created_at_ms_name_idx" ON "agents"("namespace", "created_at_ms", "name");

-- CreateIndex
CREATE INDEX "controls_namespace_id_idx" ON "controls"("namespace", "id");

-- CreateIndex
CREATE INDEX "policies_namespace_id_idx" ON "policies"("namespace", "id");

-- CreateIndex
CREATE INDEX "audit_entries_namespace_position_idx" ON "audit_entries"("namespace", "position");

-- Agents have the policies that are for every agent of their namespace.
DROP TRIGGER "agents_every_agent";
CREATE TRIGGER "agents_every_agent" AFTER INSERT ON "agents"
BEGIN
    INSERT INTO "agent_policies" ("agent_id", "policy_id")
    SELECT NEW."id", "id" FROM "policies" WHERE "every_agent" AND "namespace" = NEW."namespace";
END;
