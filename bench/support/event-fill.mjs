/**
 * Fills the event store with set-based SQL: the rows themselves by an expression of their number, the sums by the
 * statement of the service. Indexes are built afterwards. So ten millions take minutes; that the result is what storing
 * the same events one by one would have given is checked with `rebuildRollups` on a small fill.
 */
import Libsql from 'libsql';
import pg from 'pg';

/**
 * A database of the service.
 * @typedef {'sqlite' | 'postgresql'} Kind
 */

/**
 * A connection for statements about the structure, which reads texts.
 * @typedef {{
 *   query: (sql: string) => Promise<Record<string, string>[]>,
 *   execute: (sql: string) => Promise<void>,
 *   close: () => Promise<void>,
 * }} Raw
 */

/** @import { Database } from '../../dist/src/storage/database/database.js' */

export const AGENTS = 10;
export const CONTROLS = 20;
/** The events are spread over this many days, oldest first; most of a year is in rollups of hours and days. */
export const DAYS = 360;
/** Positions of one transaction. The server ends statements that take longer than ten seconds. */
const CHUNK = 20_000;

/**
 * @type {Record<Kind, {
 *   series: (from: number, to: number) => string,
 *   source: (from: number, to: number) => string,
 *   id: string,
 *   key: string,
 *   time: (us: string) => string,
 * }>}
 */
const DIALECTS = {
  sqlite: {
    series: (from, to) =>
      `WITH RECURSIVE "n" ("i") AS (SELECT ${from} UNION ALL SELECT "i" + 1 FROM "n" WHERE "i" < ${to})`,
    source: () => '"n"',
    id: 'lower(hex(randomblob(16)))',
    key: '(abs(random()) % 281474976710656)',
    time: (us) => `strftime('%Y-%m-%dT%H:%M:%S', ${us} / 1000000, 'unixepoch') || 'Z'`,
  },
  postgresql: {
    series: () => '',
    source: (from, to) => `generate_series(CAST(${from} AS BIGINT), ${to}) AS "n" ("i")`,
    id: 'md5(random()::text || "i"::text)',
    key: 'CAST(random() * 281474976710655 AS BIGINT)',
    time: (us) => `to_char(to_timestamp(${us} / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  },
};

/**
 * Statement that stores the events of some positions, of a fill with `count` events that ends at `nowMs`.
 * @param {Kind} kind
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @param {number} nowMs
 */
function insertion(kind, from, to, count, nowMs) {
  const { series, source, id, key, time } = DIALECTS[kind];
  const stepUs = Math.floor((DAYS * 86_400_000_000) / count);
  const us = `(CAST(${nowMs * 1000} AS BIGINT) - CAST(${count} - "i" AS BIGINT) * ${stepUs})`;
  return `
    INSERT INTO "events" ("position", "control_execution_id", "time_us", "time_text", "trace_key", "trace_id", "span_key",
      "span_id", "agent_name", "control_id", "control_name", "name_key", "facets", "origin", "confidence", "duration_ms",
      "evaluator_name", "selector_path", "error_message", "metadata")
    ${series(from, to)}
    SELECT "i", ${id}, ${us}, ${time(us)}, ${key}, ${id}, ${key}, substr(${id}, 1, 16),
      'bench-agent-0' || ("i" % ${AGENTS}), ("i" / ${AGENTS}) % ${CONTROLS},
      'bench-control-' || (("i" / ${AGENTS}) % ${CONTROLS}), NULL,
      (CASE "i" % 4 WHEN 0 THEN 1 ELSE 0 END) + ("i" % 2) * 2 + (CASE "i" % 5 WHEN 0 THEN 4 ELSE 0 END) + ("i" % 3) * 8,
      0, ("i" % 1000) / 1000.0, ("i" % 100) / 8.0, 'regex', 'input.text', NULL, '{}'
    FROM ${source(from, to)} WHERE 1 = 1`;
}

/**
 * @param {Kind} kind
 * @param {string} url
 * @returns {Promise<Raw>}
 */
export async function openRaw(kind, url) {
  if (kind === 'sqlite') {
    const database = new Libsql(url.replace(/^file:/, ''), { timeout: 10_000 });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536');
    return {
      query: async (sql) => /** @type {Record<string, string>[]} */ (database.prepare(sql).all([])),
      execute: async (sql) => void database.exec(sql),
      close: async () => void database.close(),
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    query: async (sql) => (await client.query(sql)).rows,
    execute: async (sql) => void (await client.query(sql)),
    close: () => client.end(),
  };
}

/** Every index of the open table of events that can be built again. */
const INDEXES = {
  sqlite: `SELECT name, sql AS definition FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL`,
  postgresql: `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
    WHERE tablename = 'events' AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
};

/**
 * Stores `count` events in an empty event store, in segments as the service would make them.
 * @param {{ kind: Kind, url: string, count: number, nowMs: number }} options
 */
export async function fillEvents({ kind, url, count, nowMs }) {
  const { Prisma } = await import('../../dist/gen/prisma/sqlite/client.js');
  const { openDatabase } = await import('../../dist/src/storage/database/database.js');
  const { advanceRollups } = await import('../../dist/src/observe/events/sql/rollups.js');
  const { OPEN_TABLE } = await import('../../dist/src/observe/events/sql/segment-tables.js');
  const { closeSegment, SEGMENT_POSITIONS } = await import('../../dist/src/observe/events/sql/segments.js');
  const database = await openDatabase({ url });
  const raw = await openRaw(kind, url);
  const nowS = Math.floor(nowMs / 1000);
  try {
    for (let first = 0; first < count; first += Number(SEGMENT_POSITIONS)) {
      await database.bulk.transaction((tx) => closeSegment(kind, tx));
      const end = Math.min(count, first + Number(SEGMENT_POSITIONS));
      const indexes = await raw.query(INDEXES[kind]);
      for (const { name } of indexes) await raw.execute(`DROP INDEX "${name}"`);
      for (let base = first; base < end; base += CHUNK) {
        const to = Math.min(end, base + CHUNK);
        const where = Prisma.sql`"position" > ${BigInt(base)} AND "position" <= ${BigInt(to)}`;
        await database.bulk.transaction((tx) =>
          tx.run(
            Prisma.sql`UPDATE "event_log" SET "position" = ${BigInt(to)}, "events" = ${BigInt(to)} WHERE "id" = 1`,
            Prisma.raw(insertion(kind, base + 1, to, count, nowMs)),
            advanceRollups(OPEN_TABLE, where, 1, nowS),
          ),
        );
      }
      for (const { definition = '' } of indexes) await raw.execute(definition);
    }
    if (kind === 'postgresql') await raw.execute('VACUUM ANALYZE');
    await buildFilters(database, raw);
  } finally {
    await raw.close();
    await database.close();
  }
}

/**
 * Lets the service's own background work build the filters of the segments, so that it is not part of a measurement.
 * @param {Database} database
 * @param {Raw} raw
 */
async function buildFilters(database, raw) {
  const { createSqlEventStore } = await import('../../dist/src/observe/events/sql/sql-event-store.js');
  const store = createSqlEventStore({ database, now: Date.now });
  store.start?.({ failed: (kind, _message, error) => console.warn(kind, error), told: () => {} });
  const missing = 'SELECT "number" FROM "event_segments" WHERE "filter" IS NULL';
  while ((await raw.query(missing)).length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  await store.close();
}

/**
 * Fails unless the sums are those of the rows.
 * @param {string} url
 */
export async function checkFill(url) {
  const { openDatabase } = await import('../../dist/src/storage/database/database.js');
  const { rebuildRollups } = await import('../../dist/src/observe/events/sql/rollup-rebuild.js');
  const database = await openDatabase({ url });
  try {
    const { hours, corrected } = await rebuildRollups({ database, now: () => Date.now() });
    if (hours === 0 || corrected > 0) throw new Error(`a fill is wrong: ${corrected} sums in ${hours} hours`);
  } finally {
    await database.close();
  }
}
