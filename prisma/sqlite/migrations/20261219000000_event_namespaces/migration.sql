-- Numbers of events by namespace, for those other than "default".

-- CreateTable
CREATE TABLE "event_namespaces" (
    "namespace" TEXT NOT NULL PRIMARY KEY,
    "events" BIGINT NOT NULL
);
