-- Numbers of events by namespace, for those other than "default".

-- CreateTable
CREATE TABLE "event_namespaces" (
    "namespace" TEXT COLLATE "C" NOT NULL,
    "events" BIGINT NOT NULL,

    CONSTRAINT "event_namespaces_pkey" PRIMARY KEY ("namespace")
);
