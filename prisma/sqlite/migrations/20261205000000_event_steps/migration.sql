-- The step of an event, and the verdict that the check is part of.

-- AlterTable
ALTER TABLE "events" ADD COLUMN "step_type" TEXT;
ALTER TABLE "events" ADD COLUMN "step_name" TEXT;
ALTER TABLE "events" ADD COLUMN "session_id" TEXT;
ALTER TABLE "events" ADD COLUMN "step_id" TEXT;
ALTER TABLE "events" ADD COLUMN "revision" BIGINT;
ALTER TABLE "events" ADD COLUMN "decision_id" TEXT;

-- Partial: an event without the value costs nothing. The models cannot express this. The other columns have no
-- index, because every event of the service would have to be entered into each.
CREATE INDEX "events_session_id_time_us_position_idx" ON "events"("session_id", "time_us", "position") WHERE "session_id" IS NOT NULL;
CREATE INDEX "events_step_id_idx" ON "events"("step_id") WHERE "step_id" IS NOT NULL;
CREATE INDEX "events_decision_id_idx" ON "events"("decision_id") WHERE "decision_id" IS NOT NULL;
