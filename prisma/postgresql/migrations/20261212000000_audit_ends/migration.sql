-- The ends of the audit log move forward only: data statements can neither rewrite nor replace entries.
-- Incompatible before 20261121000000_agents_and_controls: none; all programs add entries as these triggers demand

CREATE FUNCTION "audit_entries_append"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The service adds the entry and moves the end in one statement, whose parts run in either order.
    IF NOT EXISTS (SELECT 1 FROM "service_state" WHERE "id" = 1
        AND (NEW."position" = "audit_position" + 1 AND NEW."previous_hash" = "audit_hash"
            OR NEW."position" = "audit_position" AND NEW."hash" = "audit_hash")) THEN
        RAISE EXCEPTION 'entries of the audit log are only added at its end';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER "audit_entries_only_append" BEFORE INSERT ON "audit_entries"
    FOR EACH ROW EXECUTE FUNCTION "audit_entries_append"();

CREATE FUNCTION "service_state_forward"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."id" <> OLD."id" THEN
        RAISE EXCEPTION 'the row of the state keeps its id';
    END IF;
    IF (NEW."audit_position" <> OLD."audit_position" OR NEW."audit_hash" <> OLD."audit_hash")
        AND NEW."audit_position" <> OLD."audit_position" + 1 THEN
        RAISE EXCEPTION 'the end of the audit log moves by one entry at a time';
    END IF;
    IF (NEW."audit_anchor_position" <> OLD."audit_anchor_position"
            OR NEW."audit_anchor_hash" <> OLD."audit_anchor_hash")
        AND (NEW."audit_anchor_position" <= OLD."audit_anchor_position"
            OR NOT EXISTS (SELECT 1 FROM "audit_entries" WHERE "position" = NEW."audit_anchor_position"
                AND "hash" = NEW."audit_anchor_hash")) THEN
        RAISE EXCEPTION 'the anchor of the audit log moves forward, and to an entry only';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER "service_state_only_forward" BEFORE UPDATE OF "id", "audit_position", "audit_hash",
    "audit_anchor_position", "audit_anchor_hash" ON "service_state"
    FOR EACH ROW EXECUTE FUNCTION "service_state_forward"();

CREATE FUNCTION "service_state_keep"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the row of the state is never deleted';
END;
$$;
CREATE TRIGGER "service_state_no_delete" BEFORE DELETE ON "service_state"
    FOR EACH ROW EXECUTE FUNCTION "service_state_keep"();
CREATE TRIGGER "service_state_no_truncate" BEFORE TRUNCATE ON "service_state"
    FOR EACH STATEMENT EXECUTE FUNCTION "service_state_keep"();
