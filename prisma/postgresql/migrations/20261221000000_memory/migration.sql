-- CreateTable
CREATE TABLE "halts" (
    "id" SERIAL NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    "scope" TEXT COLLATE "C" NOT NULL,
    "agent_name" TEXT COLLATE "C",
    "session_id" TEXT COLLATE "C",
    "step_name" TEXT COLLATE "C",
    "reason" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "created_by" TEXT COLLATE "C" NOT NULL,
    "expires_at_ms" BIGINT,
    "lifted_at_ms" BIGINT,
    "lifted_by" TEXT COLLATE "C",
    "lift_reason" TEXT,

    CONSTRAINT "halts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_cells" (
    "id" TEXT COLLATE "C" NOT NULL,
    "namespace" TEXT COLLATE "C" NOT NULL,
    "label" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "generation" BIGINT NOT NULL,
    "checkpoint" TEXT,
    "checkpoint_version" BIGINT NOT NULL DEFAULT 0,
    "expires_at_us" BIGINT NOT NULL,
    "used_at_us" BIGINT NOT NULL,
    "used" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "bytes" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "memory_cells_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "memory_entries" (
    "cell_id" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL,
    "entry" TEXT NOT NULL,
    "at_us" BIGINT NOT NULL,

    CONSTRAINT "memory_entries_pkey" PRIMARY KEY ("cell_id","version")
);

-- CreateTable
CREATE TABLE "memory_rules" (
    "namespace" TEXT COLLATE "C" NOT NULL,
    "rule" TEXT COLLATE "C" NOT NULL,
    "since_us" BIGINT NOT NULL,
    "seen_at_us" BIGINT NOT NULL,

    CONSTRAINT "memory_rules_pkey" PRIMARY KEY ("namespace","rule")
);

-- CreateTable
CREATE TABLE "memory_clock" (
    "id" INTEGER NOT NULL,
    "offset_us" BIGINT NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    "epoch" TEXT NOT NULL,
    "hash_key" TEXT NOT NULL,

    CONSTRAINT "memory_clock_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_evictions" (
    "namespace" TEXT COLLATE "C" NOT NULL,
    "keys" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "memory_evictions_pkey" PRIMARY KEY ("namespace")
);

-- CreateIndex
CREATE INDEX "halts_namespace_id_idx" ON "halts"("namespace", "id");

-- CreateIndex
CREATE INDEX "halts_lifted_at_ms_expires_at_ms_idx" ON "halts"("lifted_at_ms", "expires_at_ms");

-- CreateIndex
CREATE INDEX "memory_cells_namespace_idx" ON "memory_cells"("namespace");

-- CreateIndex
CREATE INDEX "memory_cells_expires_at_us_idx" ON "memory_cells"("expires_at_us");

-- CreateIndex
CREATE INDEX "memory_entries_at_us_idx" ON "memory_entries"("at_us");

-- An exchange with the memory of controls, see ExchangeRequest in src/memory/store/memory-store.ts: one statement, and so one
-- transaction. All arrays begin with 1, and so do the indices of cells and groups. Rows are locked in the order of their ids.
CREATE FUNCTION "memory_exchange"(
    known_epoch TEXT,
    -- By cell.
    ids TEXT[], namespaces TEXT[], labels TEXT[], knowns BIGINT[], generations BIGINT[],
    -- Whether a group with additions was decided by it: it gets a row to lock.
    are_locked BOOLEAN[],
    -- Cells of all groups, one group after the other, and their numbers.
    group_sizes INTEGER[], group_cells INTEGER[],
    -- By addition.
    of_groups INTEGER[], of_cells INTEGER[], entries TEXT[], times_us BIGINT[], expiries_us BIGINT[],
    shares DOUBLE PRECISION[], checkpoints TEXT[],
    -- By rule.
    rule_namespaces TEXT[], rules TEXT[],
    OUT store_us BIGINT, OUT clock_offset_us BIGINT, OUT clock_version BIGINT, OUT epoch TEXT,
    OUT applied BOOLEAN[], OUT news TEXT, OUT since_us BIGINT[]
) LANGUAGE plpgsql
-- Every table is read by its keys, whatever is known of its size: a plan that was made while it was small would read all of it.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    writes BOOLEAN := cardinality(entries) > 0;
    same_epoch BOOLEAN;
    versions BIGINT[];
    stale BOOLEAN[];
    closed BOOLEAN[];
    next_cell INTEGER := 1;
    is_open BOOLEAN;
    now_us BIGINT;
BEGIN
    IF writes THEN
        -- What is acknowledged is on disk, whatever the server does by default.
        IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'on', true);
        END IF;
        -- A row to lock, which the next sweep removes if nothing is added to it.
        INSERT INTO memory_cells (id, namespace, label, version, generation, expires_at_us, used_at_us)
        SELECT c.id, c.namespace, c.label, 0, 0, 0, 0
        FROM unnest(ids, namespaces, labels, knowns, are_locked) AS c (id, namespace, label, known, is_locked)
        WHERE c.is_locked AND c.known <= 0
        ORDER BY c.id
        ON CONFLICT DO NOTHING;
    END IF;

    -- A restored, repaired or other server, and a restored table, have another one, whatever the row says.
    SELECT m.offset_us, m.version, concat_ws('.', m.epoch, pg_relation_filenode('memory_cells'),
        (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::BIGINT)
    INTO clock_offset_us, clock_version, epoch
    FROM memory_clock m WHERE m.id = 1;
    same_epoch := epoch IS NOT DISTINCT FROM known_epoch;

    IF writes THEN
        WITH locked AS MATERIALIZED (
            SELECT m.id, m.version, m.generation FROM memory_cells m
            WHERE m.id = ANY (ids) ORDER BY m.id FOR NO KEY UPDATE
        )
        SELECT array_agg(coalesce(l.version, 0) ORDER BY c.i),
            array_agg(NOT same_epoch OR coalesce(l.version, 0) <> c.known OR coalesce(l.generation, 0) <> c.generation
                OR (l.id IS NULL AND c.is_locked) ORDER BY c.i)
        INTO versions, stale
        FROM unnest(ids, knowns, generations, are_locked) WITH ORDINALITY AS c (id, known, generation, is_locked, i)
        LEFT JOIN locked l ON l.id = c.id;
    ELSE
        SELECT array_agg(coalesce(m.version, 0) ORDER BY c.i),
            array_agg(NOT same_epoch OR coalesce(m.version, 0) <> c.known OR coalesce(m.generation, 0) <> c.generation ORDER BY c.i)
        INTO versions, stale
        FROM unnest(ids, knowns, generations) WITH ORDINALITY AS c (id, known, generation, i)
        LEFT JOIN memory_cells m ON m.id = c.id;
    END IF;

    applied := array_fill(true, ARRAY[cardinality(group_sizes)]);
    IF true = ANY (stale) THEN
        closed := stale;
        FOR g IN 1 .. cardinality(group_sizes) LOOP
            is_open := true;
            FOR c IN next_cell .. next_cell + group_sizes[g] - 1 LOOP
                is_open := is_open AND NOT closed[group_cells[c]];
            END LOOP;
            IF NOT is_open THEN
                FOR c IN next_cell .. next_cell + group_sizes[g] - 1 LOOP
                    closed[group_cells[c]] := true;
                END LOOP;
            END IF;
            applied[g] := is_open;
            next_cell := next_cell + group_sizes[g];
        END LOOP;

        SELECT json_agg(json_build_array(s.i - 1, s.version, s.generation, s.checkpoint, s.checkpoint_version, (
            SELECT coalesce(json_agg(e.entry ORDER BY e.version), '[]') FROM memory_entries e
            WHERE e.cell_id = s.id AND e.version > greatest(s.start, s.checkpoint_version) AND e.version <= s.version
        )))::TEXT
        INTO news
        FROM (
            SELECT k.i, k.id, k.version, k.generation, k.start,
                CASE WHEN k.begins THEN k.checkpoint END AS checkpoint,
                CASE WHEN k.begins THEN k.checkpoint_version END AS checkpoint_version
            FROM (
                SELECT c.i, c.id, p.start, coalesce(m.version, 0) AS version, coalesce(m.generation, 0) AS generation,
                    m.checkpoint, m.checkpoint_version,
                    -- The entries since what the process knows are less than the checkpoint, if they are still kept.
                    coalesce(m.checkpoint_version > p.start, false) AND (p.start = 0 OR m.version - p.start > 500
                        OR NOT EXISTS (SELECT FROM memory_entries e WHERE e.cell_id = c.id AND e.version = p.start + 1)) AS begins
                FROM unnest(ids, knowns, generations, stale) WITH ORDINALITY AS c (id, known, generation, is_stale, i)
                LEFT JOIN memory_cells m ON m.id = c.id
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN same_epoch AND c.known > 0 AND c.known <= m.version AND c.generation = m.generation
                        THEN c.known ELSE 0 END AS start
                ) p
                WHERE c.is_stale
            ) k
        ) s;
    END IF;

    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT;
    store_us := now_us;
    now_us := now_us + clock_offset_us;

    IF writes AND true = ANY (applied) THEN
        INSERT INTO memory_entries (cell_id, version, entry, at_us)
        SELECT ids[a.cell], versions[a.cell] + row_number() OVER (PARTITION BY a.cell ORDER BY a.i), a.entry, a.at_us
        FROM unnest(of_groups, of_cells, entries, times_us) WITH ORDINALITY AS a (of_group, cell, entry, at_us, i)
        WHERE applied[a.of_group];

        UPDATE memory_cells m SET
            version = m.version + u.added,
            generation = CASE WHEN m.version = 0 THEN u.first_us ELSE m.generation END,
            checkpoint = coalesce(u.checkpoint, m.checkpoint),
            checkpoint_version = coalesce(m.version + u.checkpoint_after, m.checkpoint_version),
            expires_at_us = greatest(m.expires_at_us, u.expires_at_us),
            used_at_us = u.last_us,
            used = u.used,
            bytes = u.bytes + CASE WHEN u.checkpoint IS NULL THEN m.bytes ELSE octet_length(u.checkpoint) END
        FROM (
            SELECT ids[o.cell] AS id, count(*) AS added, min(o.at_us) AS first_us, max(o.at_us) AS last_us,
                max(o.expires_at_us) AS expires_at_us, max(o.used) FILTER (WHERE o.n = o.all_of) AS used,
                max(o.checkpoint) FILTER (WHERE o.n = o.checkpoint_after) AS checkpoint,
                max(o.checkpoint_after) AS checkpoint_after,
                coalesce(sum(octet_length(o.entry)) FILTER (WHERE o.n > coalesce(o.checkpoint_after, 0)), 0)::INTEGER AS bytes
            FROM (
                SELECT r.*, max(r.n) FILTER (WHERE r.checkpoint IS NOT NULL) OVER w AS checkpoint_after, max(r.n) OVER w AS all_of
                FROM (
                    SELECT a.*, row_number() OVER (PARTITION BY a.cell ORDER BY a.i) AS n
                    FROM unnest(of_groups, of_cells, entries, times_us, expiries_us, shares, checkpoints) WITH ORDINALITY
                        AS a (of_group, cell, entry, at_us, expires_at_us, used, checkpoint, i)
                    WHERE applied[a.of_group]
                ) r
                WINDOW w AS (PARTITION BY r.cell)
            ) o
            GROUP BY o.cell
        ) u
        WHERE m.id = u.id;
    END IF;

    IF cardinality(rules) > 0 THEN
        INSERT INTO memory_rules AS r (namespace, rule, since_us, seen_at_us)
        SELECT DISTINCT k.namespace, k.rule, now_us, now_us FROM unnest(rule_namespaces, rules) AS k (namespace, rule)
        ORDER BY k.namespace, k.rule
        -- 5 minutes without a process that had it are a gap in its record. It is written once a minute.
        ON CONFLICT ON CONSTRAINT memory_rules_pkey DO UPDATE SET
            since_us = CASE WHEN r.seen_at_us < now_us - 300000000 THEN now_us ELSE r.since_us END, seen_at_us = now_us
        WHERE r.seen_at_us < now_us - 60000000;
        SELECT array_agg(r.since_us ORDER BY k.i) INTO since_us
        FROM unnest(rule_namespaces, rules) WITH ORDINALITY AS k (namespace, rule, i)
        JOIN memory_rules r ON r.namespace = k.namespace AND r.rule = k.rule;
    END IF;
END $$;
