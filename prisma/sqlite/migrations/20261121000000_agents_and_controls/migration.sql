-- CreateTable
CREATE TABLE "agents" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "agent_controls" (
    "agent_id" INTEGER NOT NULL,
    "control_id" INTEGER NOT NULL,

    PRIMARY KEY ("agent_id", "control_id"),
    CONSTRAINT "agent_controls_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents" ("id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "agent_controls_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "controls" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "execution" TEXT,
    "template_backed" BOOLEAN NOT NULL,
    "template_rendered" BOOLEAN,
    "restricts_step_types" BOOLEAN NOT NULL,
    "restricts_stages" BOOLEAN NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "updated_at_ms" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "control_facets" (
    "control_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    PRIMARY KEY ("control_id", "kind", "hash"),
    CONSTRAINT "control_facets_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "service_state" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "revision" BIGINT NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "agents_name_key" ON "agents"("name");

-- CreateIndex
CREATE INDEX "agents_created_at_ms_name_idx" ON "agents"("created_at_ms", "name");

-- CreateIndex
CREATE INDEX "agent_controls_control_id_idx" ON "agent_controls"("control_id");

-- CreateIndex
CREATE UNIQUE INDEX "controls_name_key" ON "controls"("name");

-- CreateIndex
CREATE INDEX "control_facets_kind_hash_control_id_idx" ON "control_facets"("kind", "hash", "control_id");

-- The single row that mutations lock.
INSERT INTO "service_state" ("id", "revision") VALUES (1, 0);
