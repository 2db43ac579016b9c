-- CreateTable
CREATE TABLE "changes" (
    "revision" BIGINT NOT NULL PRIMARY KEY,
    "agents" TEXT,
    "controls" TEXT NOT NULL
);
