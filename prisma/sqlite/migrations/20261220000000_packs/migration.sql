-- CreateTable
CREATE TABLE "pack_installations" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "namespace" TEXT NOT NULL DEFAULT 'default',
    "policy_id" INTEGER NOT NULL,
    "pack" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "installed_at_ms" BIGINT NOT NULL,
    "updated_at_ms" BIGINT NOT NULL,
    CONSTRAINT "pack_installations_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "pack_controls" (
    "installation_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "control_id" INTEGER,
    "base" TEXT NOT NULL,

    PRIMARY KEY ("installation_id", "key"),
    CONSTRAINT "pack_controls_installation_id_fkey" FOREIGN KEY ("installation_id") REFERENCES "pack_installations" ("id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "pack_controls_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls" ("id") ON DELETE SET NULL ON UPDATE RESTRICT
);

-- CreateIndex
CREATE INDEX "pack_installations_namespace_id_idx" ON "pack_installations"("namespace", "id");

-- CreateIndex
CREATE UNIQUE INDEX "pack_installations_policy_id_pack_key" ON "pack_installations"("policy_id", "pack");

-- CreateIndex
CREATE INDEX "pack_controls_control_id_idx" ON "pack_controls"("control_id");
