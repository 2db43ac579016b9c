-- One row that is written now and then, to find out whether anything can be written.

-- CreateTable
CREATE TABLE "storage_probe" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "writes" BIGINT NOT NULL
);

INSERT INTO "storage_probe" ("id", "writes") VALUES (1, 0);
