-- Tells this database from every other one, also after it was moved or restored: a random UUID, set once.

-- AlterTable
ALTER TABLE "service_state" ADD COLUMN "instance_id" TEXT NOT NULL DEFAULT '';

UPDATE "service_state" SET "instance_id" = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
);
