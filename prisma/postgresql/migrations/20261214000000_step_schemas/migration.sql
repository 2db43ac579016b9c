-- How steps of an agent are compared with their registered schemas, where the setting of the service does not decide.
-- Incompatible before 20261121000000_agents_and_controls: none; programs of earlier versions neither read nor write it

ALTER TABLE "agents" ADD COLUMN "step_schemas" TEXT;
