-- DropIndex
DROP INDEX "controls_name_key";

-- AlterTable
ALTER TABLE "controls" ADD COLUMN "deleted_at_ms" BIGINT;
ALTER TABLE "controls" ADD COLUMN "live_name" TEXT;

-- Every control that is there lives.
UPDATE "controls" SET "live_name" = "name";

-- CreateIndex
CREATE UNIQUE INDEX "controls_live_name_key" ON "controls"("live_name");

-- CreateTable
CREATE TABLE "control_versions" (
    "control_id" INTEGER NOT NULL,
    "version_num" INTEGER NOT NULL,
    "event_type" TEXT NOT NULL,
    "note" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "key_fingerprint" TEXT,
    "changed_members" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "data" TEXT NOT NULL,

    PRIMARY KEY ("control_id", "version_num"),
    CONSTRAINT "control_versions_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- The history of controls that are already there begins with what they are now.
INSERT INTO "control_versions" ("control_id", "version_num", "event_type", "note", "created_at_ms", "changed_members", "name", "data")
SELECT "id", 1, 'created', 'stored before versions were kept', "created_at_ms", '[]', "name", "data" FROM "controls";
