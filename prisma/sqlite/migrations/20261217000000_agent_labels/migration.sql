-- Labels of agents, policies that agents have by their labels, and what lists of controls are filtered and sorted by.

-- CreateTable
CREATE TABLE "agent_labels" (
    "agent_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    PRIMARY KEY ("agent_id", "name"),
    CONSTRAINT "agent_labels_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "policy_labels" (
    "policy_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    PRIMARY KEY ("policy_id", "name"),
    CONSTRAINT "policy_labels_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- AlterTable
ALTER TABLE "agents" ADD COLUMN "labels_version" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "agent_policies" ADD COLUMN "direct" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "agent_policies" ADD COLUMN "by_labels" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "controls" ADD COLUMN "step_name_pattern" TEXT;

-- AlterTable
ALTER TABLE "control_versions" ADD COLUMN "author" TEXT;

-- CreateIndex
CREATE INDEX "agent_labels_name_value_idx" ON "agent_labels"("name", "value");

-- CreateIndex
CREATE INDEX "policy_labels_name_value_idx" ON "policy_labels"("name", "value");

-- CreateIndex
CREATE INDEX "controls_updated_at_ms_idx" ON "controls"("updated_at_ms");

-- CreateIndex
CREATE INDEX "agents_labels_version_version_idx" ON "agents"("labels_version", "version");

-- Who made the versions that are there: each has one entry of the audit log, in the same order, unless it is older than
-- the log or its entry was pruned; then it is missing at the beginning.
UPDATE "control_versions" SET "author" = "entries"."author"
FROM (
    SELECT v."control_id", v."version_num", COALESCE(e."actor_name", e."actor_kind") AS "author"
    FROM (
        SELECT "control_id", "version_num", "key_fingerprint",
            ROW_NUMBER() OVER (PARTITION BY "control_id" ORDER BY "version_num" DESC) AS "ordinal"
        FROM "control_versions"
    ) v
    JOIN (
        SELECT "resource_id", "actor_name", "actor_kind", "key_fingerprint",
            ROW_NUMBER() OVER (PARTITION BY "resource_id" ORDER BY "position" DESC) AS "ordinal"
        FROM "audit_entries" WHERE "resource" = 'control'
    ) e ON e."resource_id" = CAST(v."control_id" AS TEXT) AND e."ordinal" = v."ordinal"
    WHERE COALESCE(v."key_fingerprint", '') = COALESCE(e."key_fingerprint", '')
) AS "entries"
WHERE "entries"."control_id" = "control_versions"."control_id"
    AND "entries"."version_num" = "control_versions"."version_num";
