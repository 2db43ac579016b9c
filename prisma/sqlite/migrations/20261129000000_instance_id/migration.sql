-- The identity of a database, by which it is told apart from a new one at the same place.

-- AlterTable
ALTER TABLE "service_state" ADD COLUMN "instance_id" TEXT NOT NULL DEFAULT '';

-- A UUID of version 4.
UPDATE "service_state" SET "instance_id" = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
    substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));
