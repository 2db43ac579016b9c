-- Versions of registrations and policies, so that an update can demand the state it was made from.

-- AlterTable
ALTER TABLE "agents" ADD COLUMN "version" BIGINT NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "policies" ADD COLUMN "updated_at_ms" BIGINT;

-- AlterTable
ALTER TABLE "policies" ADD COLUMN "version" BIGINT NOT NULL DEFAULT 1;
