-- CreateTable
CREATE TABLE "pack_installations" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "policy_id" INTEGER NOT NULL,
    "pack" TEXT COLLATE "C" NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "installed_at_ms" BIGINT NOT NULL,
    "updated_at_ms" BIGINT NOT NULL,

    CONSTRAINT "pack_installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pack_controls" (
    "installation_id" INTEGER NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "control_id" INTEGER,
    "base" TEXT NOT NULL,

    CONSTRAINT "pack_controls_pkey" PRIMARY KEY ("installation_id","key")
);

-- CreateIndex
CREATE INDEX "pack_installations_namespace_id_idx" ON "pack_installations"("namespace", "id");

-- CreateIndex
CREATE UNIQUE INDEX "pack_installations_policy_id_pack_key" ON "pack_installations"("policy_id", "pack");

-- CreateIndex
CREATE INDEX "pack_controls_control_id_idx" ON "pack_controls"("control_id");

-- AddForeignKey
ALTER TABLE "pack_installations" ADD CONSTRAINT "pack_installations_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "pack_controls" ADD CONSTRAINT "pack_controls_installation_id_fkey" FOREIGN KEY ("installation_id") REFERENCES "pack_installations"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "pack_controls" ADD CONSTRAINT "pack_controls_control_id_fkey" FOREIGN KEY ("control_id") REFERENCES "controls"("id") ON DELETE SET NULL ON UPDATE RESTRICT;
