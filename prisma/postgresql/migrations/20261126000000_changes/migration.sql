-- CreateTable
CREATE TABLE "changes" (
    "revision" BIGINT NOT NULL,
    "agents" TEXT,
    "controls" TEXT NOT NULL,

    CONSTRAINT "changes_pkey" PRIMARY KEY ("revision")
);
