-- Tells this database from every other one, also after it was moved or restored: a random UUID, set once.

-- AlterTable
ALTER TABLE "service_state" ADD COLUMN "instance_id" TEXT NOT NULL DEFAULT '';

UPDATE "service_state" SET "instance_id" = gen_random_uuid()::TEXT;
