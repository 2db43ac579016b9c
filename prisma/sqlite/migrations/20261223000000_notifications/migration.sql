-- CreateTable
CREATE TABLE "notification_destinations" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "url" TEXT,
    "recipients" TEXT,
    "kinds" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT NOT NULL,
    "secret" TEXT,
    "rotated_at_ms" BIGINT,
    "previous_secret" TEXT,
    "previous_until_ms" BIGINT,
    "dropped" INTEGER NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "notification_deliveries" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "destination_id" INTEGER NOT NULL,
    "message_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "object" TEXT NOT NULL,
    "summary" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at_ms" BIGINT NOT NULL,
    "since_ms" BIGINT NOT NULL,
    "next_at_ms" BIGINT NOT NULL,
    "last_at_ms" BIGINT,
    "last_status" INTEGER,
    "last_error" TEXT,
    CONSTRAINT "notification_deliveries_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "notification_destinations" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "notification_marks" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "seen_ms" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "notification_destinations_namespace_id_idx" ON "notification_destinations"("namespace", "id");

-- CreateIndex
CREATE INDEX "notification_deliveries_state_next_at_ms_idx" ON "notification_deliveries"("state", "next_at_ms");

-- CreateIndex
CREATE INDEX "notification_deliveries_destination_id_state_object_id_idx" ON "notification_deliveries"("destination_id", "state", "object", "id");

-- CreateIndex
CREATE INDEX "notification_deliveries_namespace_id_idx" ON "notification_deliveries"("namespace", "id");
