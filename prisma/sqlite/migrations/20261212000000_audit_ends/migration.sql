-- The ends of the audit log move forward only: data statements can neither rewrite nor replace entries.
-- Incompatible before 20261121000000_agents_and_controls: none; all programs add entries as these triggers demand

CREATE TRIGGER "audit_entries_only_append" BEFORE INSERT ON "audit_entries"
WHEN NOT EXISTS (SELECT 1 FROM "service_state" WHERE "id" = 1
    AND NEW."position" = "audit_position" + 1 AND NEW."previous_hash" = "audit_hash")
BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are only added at its end');
END;
CREATE TRIGGER "service_state_same_id" BEFORE UPDATE OF "id" ON "service_state"
WHEN NEW."id" <> OLD."id"
BEGIN
    SELECT RAISE(ABORT, 'the row of the state keeps its id');
END;
CREATE TRIGGER "service_state_end_forward" BEFORE UPDATE OF "audit_position", "audit_hash" ON "service_state"
WHEN (NEW."audit_position" <> OLD."audit_position" OR NEW."audit_hash" <> OLD."audit_hash")
    AND NEW."audit_position" <> OLD."audit_position" + 1
BEGIN
    SELECT RAISE(ABORT, 'the end of the audit log moves by one entry at a time');
END;
CREATE TRIGGER "service_state_anchor_forward" BEFORE UPDATE OF "audit_anchor_position", "audit_anchor_hash"
ON "service_state"
WHEN (NEW."audit_anchor_position" <> OLD."audit_anchor_position"
        OR NEW."audit_anchor_hash" <> OLD."audit_anchor_hash")
    AND (NEW."audit_anchor_position" <= OLD."audit_anchor_position"
        OR NOT EXISTS (SELECT 1 FROM "audit_entries" WHERE "position" = NEW."audit_anchor_position"
            AND "hash" = NEW."audit_anchor_hash"))
BEGIN
    SELECT RAISE(ABORT, 'the anchor of the audit log moves forward, and to an entry only');
END;
-- A row that replaces another one fires no trigger of a deletion.
CREATE TRIGGER "service_state_no_second" BEFORE INSERT ON "service_state"
WHEN EXISTS (SELECT 1 FROM "service_state")
BEGIN
    SELECT RAISE(ABORT, 'the row of the state is never replaced');
END;
CREATE TRIGGER "service_state_no_delete" BEFORE DELETE ON "service_state"
BEGIN
    SELECT RAISE(ABORT, 'the row of the state is never deleted');
END;
