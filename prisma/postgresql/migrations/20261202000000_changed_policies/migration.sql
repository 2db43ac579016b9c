-- Policies whose controls changed, so that a change of a policy does not have to list all its agents.

-- AlterTable
ALTER TABLE "changes" ADD COLUMN "policies" TEXT;
