-- What an owner has applied where something else is stored, because its members were merged with changes of others.
-- Incompatible before 20261121000000_agents_and_controls: none; programs of earlier versions neither read nor write it

ALTER TABLE "applied_objects" ADD COLUMN "base" TEXT;
