-- CreateTable
CREATE TABLE "notification_destinations" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "name" TEXT NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "url" TEXT,
    "recipients" TEXT,
    "kinds" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT COLLATE "C" NOT NULL,
    "secret" TEXT,
    "rotated_at_ms" BIGINT,
    "previous_secret" TEXT,
    "previous_until_ms" BIGINT,
    "dropped" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "notification_destinations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notification_deliveries" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "destination_id" INTEGER NOT NULL,
    "message_id" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "object" TEXT COLLATE "C" NOT NULL,
    "summary" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at_ms" BIGINT NOT NULL,
    "since_ms" BIGINT NOT NULL,
    "next_at_ms" BIGINT NOT NULL,
    "last_at_ms" BIGINT,
    "last_status" INTEGER,
    "last_error" TEXT,

    CONSTRAINT "notification_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notification_marks" (
    "key" TEXT COLLATE "C" NOT NULL,
    "seen_ms" BIGINT NOT NULL,

    CONSTRAINT "notification_marks_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "notification_destinations_namespace_id_idx" ON "notification_destinations"("namespace", "id");

-- CreateIndex
CREATE INDEX "notification_deliveries_state_next_at_ms_idx" ON "notification_deliveries"("state", "next_at_ms");

-- CreateIndex
CREATE INDEX "notification_deliveries_destination_id_state_object_id_idx" ON "notification_deliveries"("destination_id", "state", "object", "id");

-- CreateIndex
CREATE INDEX "notification_deliveries_namespace_id_idx" ON "notification_deliveries"("namespace", "id");

-- AddForeignKey
ALTER TABLE "notification_deliveries" ADD CONSTRAINT "notification_deliveries_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "notification_destinations"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
