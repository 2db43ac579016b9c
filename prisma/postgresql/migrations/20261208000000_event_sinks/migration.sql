-- Destinations that every stored event is copied to.

-- CreateTable
CREATE TABLE "event_sinks" (
    "name" TEXT NOT NULL,
    "position" BIGINT,
    "owner" TEXT,
    "lease_until_ms" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_sinks_pkey" PRIMARY KEY ("name")
);
