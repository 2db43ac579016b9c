-- The identity of a database, by which it is told apart from a new one at the same place.

-- AlterTable
ALTER TABLE "service_state" ADD COLUMN "instance_id" TEXT NOT NULL DEFAULT '';

UPDATE "service_state" SET "instance_id" = gen_random_uuid()::text;
