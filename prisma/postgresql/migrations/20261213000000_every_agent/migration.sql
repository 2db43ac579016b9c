-- Policies that every agent has, also those that are registered later.
-- Incompatible before 20261121000000_agents_and_controls: none; programs of every version read the links that are made here

ALTER TABLE "policies" ADD COLUMN "every_agent" BOOLEAN NOT NULL DEFAULT false;

-- A trigger, so that agents registered by programs of earlier versions have them, too.
CREATE FUNCTION "agents_every_agent"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "agent_policies" ("agent_id", "policy_id")
    SELECT NEW."id", "id" FROM "policies" WHERE "every_agent";
    RETURN NULL;
END;
$$;
CREATE TRIGGER "agents_every_agent" AFTER INSERT ON "agents"
    FOR EACH ROW EXECUTE FUNCTION "agents_every_agent"();
