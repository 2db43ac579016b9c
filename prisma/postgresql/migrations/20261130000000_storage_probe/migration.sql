-- One row that is written now and then, to find out whether anything can be written.

-- CreateTable
CREATE TABLE "storage_probe" (
    "id" INTEGER NOT NULL,
    "writes" BIGINT NOT NULL,

    CONSTRAINT "storage_probe_pkey" PRIMARY KEY ("id")
);

INSERT INTO "storage_probe" ("id", "writes") VALUES (1, 0);
