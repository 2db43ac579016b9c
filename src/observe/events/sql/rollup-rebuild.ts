import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkRow } from '../../../storage/database/bulk.js';
import type { Database } from '../../../storage/database/database.js';
import { jsonElements } from '../../../storage/database/json-elements.js';
import { bigintOf } from '../store/count.js';
import type { RebuildResult } from '../store/event-store.js';
import { DAY, HOUR, ROLLUP_LEVELS } from '../store/rollup-levels.js';
import { SUMS } from '../store/rollup-sums.js';
import {
  ADD_TO_ROLLUP,
  firstRolledS,
  levelTable,
  SUM_COLUMNS,
  SUM_OF_SUMS,
  sumsBySecond,
  UNIT_START,
} from './rollups.js';
import { ALL_EVENTS } from './segment-tables.js';

/** Rollups corrected by one transaction: writers of events wait for it. */
const ROLLUPS_PER_WRITE = 2_000;

export interface RebuildOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Reconciles the rollups with the stored events, hour by hour, while further events are stored. Each step
 * reads a consistent view of events and rollups and then adds the differences, so it need not block writers
 * while it counts. Rollups of events that were pruned, before it or meanwhile, are unchanged.
 */
export async function rebuildRollups({ database, now }: RebuildOptions): Promise<RebuildResult> {
  const { bulk } = database;
  const elements = jsonElements(database.kind);
  const nowS = Math.floor(now() / 1000);
  const levels = ROLLUP_LEVELS.filter(({ unitS }) => unitS <= HOUR);
  const dayLevel = ROLLUP_LEVELS.filter(({ unitS }) => unitS === DAY);
  let corrected = 0;
  let hours = 0;

  /** Adds the differences found by `differences`, until there are none or it has added them all. */
  async function correct(differences: Prisma.Sql, where: Prisma.Sql): Promise<void> {
    for (;;) {
      const rows = await bulk.read('search', differences);
      if (rows.length === 0) return;
      if (await addAll(rows, where)) return;
    }
  }

  /** False when another process corrected rollups after `rows` were read; the rest is then not added. */
  async function addAll(rows: readonly BulkRow[], where: Prisma.Sql): Promise<boolean> {
    let rebuilds = bigintOf(rows[0]?.at(-1));
    for (let at = 0; at < rows.length; at += ROLLUPS_PER_WRITE) {
      const part = rows.slice(at, at + ROLLUPS_PER_WRITE).map((row) => row.slice(0, -1).map(String));
      const isFirst = await bulk.transaction(async (tx) => {
        const [turn] = await tx.run(Prisma.sql`
          UPDATE "event_log" SET "rebuilds" = "rebuilds" + 1 WHERE "id" = 1 AND "rebuilds" = ${rebuilds}`);
        if (turn?.changes !== 1) return false;
        await tx.run(
          Prisma.sql`
            INSERT INTO "event_rollups" (${KEY_COLUMNS}, ${SUM_COLUMNS})
            SELECT ${ELEMENTS} FROM ${elements(JSON.stringify(part))} WHERE 1 = 1 ${ADD_TO_ROLLUP}`,
          Prisma.sql`DELETE FROM "event_rollups" WHERE "executions" = 0 AND ${where}`,
        );
        return true;
      });
      if (!isFirst) return false;
      rebuilds += 1n;
      corrected += part.length;
    }
    return true;
  }

  const days = new Set<number>();
  const firstHour = Math.ceil((await firstRolledS(bulk, nowS)) / HOUR) * HOUR;
  for (let hour = await nextHour(bulk, firstHour); hour !== undefined; ) {
    hours += 1;
    days.add(Math.floor(hour / DAY) * DAY);
    const where = startsIn(levels, hour, hour + HOUR);
    const events = Prisma.sql`
      "time_us" >= ${BigInt(hour) * 1_000_000n} AND "time_us" < ${BigInt(hour + HOUR) * 1_000_000n}`;
    const wanted = Prisma.sql`
      SELECT "agent_name", "unit_s", ${UNIT_START} AS "start_s", "control_id", "name_key", ${SUM_OF_SUMS}
      FROM "seconds" CROSS JOIN "levels" WHERE ${UNIT_START} >= "from_s" GROUP BY 1, 2, 3, 4, 5`;
    await correct(
      Prisma.sql`
        WITH ${levelTable(levels, nowS)}, "seconds" AS MATERIALIZED (${sumsBySecond(ALL_EVENTS, events)})
        ${difference(wanted, where)} AND ${notPruned(hour)}`,
      where,
    );
    hour = await nextHour(bulk, hour + HOUR);
  }
  for (const day of days) {
    const where = startsIn(dayLevel, day, day + DAY);
    const wanted = Prisma.sql`
      SELECT "agent_name", ${Prisma.raw(String(DAY))} AS "unit_s", CAST(${day} AS BIGINT) AS "start_s",
        "control_id", "name_key", ${SUM_OF_SUMS}
      FROM "event_rollups"
      WHERE ${startsIn([{ unitS: HOUR }], day, day + DAY)} AND ${day} >= (SELECT "from_s" FROM "levels")
      GROUP BY 1, 2, 3, 4, 5`;
    await correct(Prisma.sql`WITH ${levelTable(dayLevel, nowS)} ${difference(wanted, where)}`, where);
  }
  return { hours, corrected };
}

const KEYS = [
  ['agent_name', 'TEXT'],
  ['unit_s', 'INTEGER'],
  ['start_s', 'BIGINT'],
  ['control_id', 'INTEGER'],
  ['name_key', 'TEXT'],
] as const;
const KEY_COLUMNS = Prisma.raw(KEYS.map(([name]) => `"${name}"`).join(', '));
const ELEMENTS = Prisma.raw(
  [...KEYS.map(([, type]) => type), ...SUMS.map(() => 'BIGINT')]
    .map((type, index) => `CAST("j"."item" ->> ${index} AS ${type})`)
    .join(', '),
);
const NEGATED = Prisma.raw(SUMS.map((name) => `-"${name}"`).join(', '));
const NOT_ALL_ZERO = Prisma.raw(SUMS.map((name) => `SUM("${name}") <> 0`).join(' OR '));

/** Rollups of some levels that start within a span of time. */
function startsIn(levels: readonly { readonly unitS: number }[], fromS: number, toS: number): Prisma.Sql {
  const units = Prisma.raw(levels.map(({ unitS }) => unitS).join(', '));
  return Prisma.sql`"unit_s" IN (${units}) AND "start_s" >= ${fromS} AND "start_s" < ${toS}`;
}

/**
 * Condition that all events since a time still exist when they are counted: pruning continues during a
 * rebuild, and must not remove events from the sums. To be used in the statement that counts.
 */
function notPruned(fromS: number): Prisma.Sql {
  return Prisma.sql`
    (SELECT "pruned_before_us" FROM "event_log" WHERE "id" = 1) <= CAST(${BigInt(fromS) * 1_000_000n} AS BIGINT)`;
}

/** The amounts to add to the rollups of `where` to get `wanted`; with the number of rebuilds so far. */
function difference(wanted: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${KEY_COLUMNS}, ${SUM_OF_SUMS}, (SELECT "rebuilds" FROM "event_log" WHERE "id" = 1)
    FROM (
      ${wanted}
      UNION ALL
      SELECT ${KEY_COLUMNS}, ${NEGATED} FROM "event_rollups"
      WHERE ${where} AND "start_s" >= (
        SELECT "from_s" FROM "levels" WHERE "levels"."unit_s" = "event_rollups"."unit_s")
    ) AS "both"
    GROUP BY ${KEY_COLUMNS} HAVING (${NOT_ALL_ZERO})`;
}

/** The first hour since `fromS` that has events or rollups. */
async function nextHour(bulk: Database['bulk'], fromS: number): Promise<number | undefined> {
  const rollups = ROLLUP_LEVELS.map(
    ({ unitS }) => Prisma.sql`
      SELECT MIN("start_s") FROM "event_rollups" WHERE "unit_s" = ${unitS} AND "start_s" >= ${fromS}`,
  );
  const rows = await bulk.read(
    'search',
    Prisma.sql`
      SELECT (SELECT "time_us" FROM ${ALL_EVENTS} WHERE "time_us" >= ${BigInt(fromS) * 1_000_000n}
        ORDER BY "time_us" LIMIT 1) / 1000000
      UNION ALL ${Prisma.join(rollups, ' UNION ALL ')}`,
  );
  const found = rows.flatMap(([second]) => (second === null ? [] : [Number(second)]));
  return found.length === 0 ? undefined : Math.floor(Math.min(...found) / HOUR) * HOUR;
}
