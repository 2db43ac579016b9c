-- Destinations that every stored event is copied to.

-- CreateTable
CREATE TABLE "event_sinks" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "position" BIGINT,
    "owner" TEXT,
    "lease_until_ms" BIGINT NOT NULL DEFAULT 0
);
