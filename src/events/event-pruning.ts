import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow, BulkTransaction } from '../database/bulk.js';
import { ROLLUP_LEVELS, type RollupLevel } from './rollups.js';

/** Rows deleted by one transaction: writers of events wait for it. */
export const PRUNING_BATCH = 1_000;

/**
 * Additional retention of rollups, in seconds. Clocks of several processes differ, and a rebuild uses the
 * time of its start: rows that it expects must still exist.
 */
const ROLLUP_MARGIN_S = 3_600;

const US_PER_S = 1_000_000n;
const S_PER_DAY = 86_400;

/** What to delete: everything older than these times. */
export interface PruningLimits {
  /** Microseconds since 1970; an event of exactly this time stays. Null keeps all events. */
  readonly eventsBeforeUs: bigint | null;
  /** Seconds since 1970, by level; a rollup that starts exactly then stays. */
  readonly rollups: readonly { readonly unitS: number; readonly beforeS: number }[];
}

/** Numbers of rows. */
export interface PruningCounts {
  readonly events: number;
  readonly rollups: number;
}

/** Limits as of now. `retentionDays` 0 keeps events forever; rollups are kept while statistics read them. */
export function pruningLimits(nowMs: number, retentionDays: number): PruningLimits {
  const nowS = Math.floor(nowMs / 1000);
  return {
    eventsBeforeUs: retentionDays === 0 ? null : BigInt(nowMs) * 1_000n - daysInUs(retentionDays),
    rollups: ROLLUP_LEVELS.map(({ unitS, keptS }: RollupLevel) => ({
      unitS,
      beforeS: nowS - keptS - ROLLUP_MARGIN_S,
    })),
  };
}

function daysInUs(days: number): bigint {
  return BigInt(days * S_PER_DAY) * US_PER_S;
}

/** Counts the rows that the limits would delete. */
export async function countPrunable(
  bulk: Pick<BulkDatabase, 'read'>,
  limits: PruningLimits,
): Promise<PruningCounts> {
  const count = async (from: Prisma.Sql) =>
    Number((await bulk.read('search', Prisma.sql`SELECT COUNT(*) FROM ${from}`))[0]?.[0] ?? 0);
  const { eventsBeforeUs } = limits;
  const events =
    eventsBeforeUs === null ? 0 : await count(Prisma.sql`"events" WHERE "time_us" < ${eventsBeforeUs}`);
  let rollups = 0;
  for (const { unitS, beforeS } of limits.rollups) {
    rollups += await count(
      Prisma.sql`"event_rollups" WHERE "unit_s" = ${unitS} AND "start_s" < ${BigInt(beforeS)}`,
    );
  }
  return { events, rollups };
}

/** The oldest existing rows. */
export interface Oldest {
  /** Microseconds since 1970; null when there is no event. */
  readonly eventUs: bigint | null;
  /** Start of the first rollup in seconds since 1970, by length of the unit. */
  readonly rollupS: ReadonlyMap<number, number>;
}

export async function findOldest(bulk: Pick<BulkDatabase, 'read'>): Promise<Oldest> {
  const rollups = ROLLUP_LEVELS.map(
    ({ unitS }) => Prisma.sql`
      SELECT CAST(${unitS} AS INTEGER), MIN("start_s") FROM "event_rollups" WHERE "unit_s" = ${unitS}`,
  );
  const rows = await bulk.read(
    'statistics',
    Prisma.sql`SELECT 0, MIN("time_us") FROM "events" UNION ALL ${Prisma.join(rollups, ' UNION ALL ')}`,
  );
  const found = rows.flatMap(([unitS, first]): [number, bigint][] =>
    first === null || first === undefined ? [] : [[Number(unitS), BigInt(String(first))]],
  );
  const rollupS = new Map(found.map(([unitS, first]) => [unitS, Number(first)]));
  return { eventUs: found.find(([unitS]) => unitS === 0)?.[1] ?? null, rollupS };
}

/** Whether the limits would delete anything. */
export function isDue({ eventsBeforeUs, rollups }: PruningLimits, { eventUs, rollupS }: Oldest): boolean {
  if (eventsBeforeUs !== null && eventUs !== null && eventUs < eventsBeforeUs) return true;
  return rollups.some(({ unitS, beforeS }) => (rollupS.get(unitS) ?? beforeS) < beforeS);
}

/** One step of a pruning: returns the number of deleted rows; less than a full batch in the last one. */
export type PruningStep = (tx: BulkTransaction) => Promise<number>;

/**
 * The steps that delete old events. Each begins with the lock that all writers of events acquire first, and
 * in the same transaction updates the number of events and records its progress: a rebuild of the statistics
 * must not treat pruned events as if they had never existed, and a reader by position has to know that some
 * are missing.
 */
export function eventSteps(beforeUs: bigint, nowMs: () => number): PruningStep {
  let fromUs: bigint | null = null;
  return async (tx) => {
    await tx.run(Prisma.sql`
      UPDATE "event_log" SET "pruning_at_ms" = ${BigInt(nowMs())},
        "pruned_before_us" = CASE WHEN "pruned_before_us" < ${beforeUs} THEN ${beforeUs} ELSE "pruned_before_us" END
      WHERE "id" = 1`);
    // Rows deleted by an earlier step remain in the index until the database has cleaned up.
    const from = fromUs === null ? Prisma.empty : Prisma.sql`"time_us" >= ${fromUs} AND`;
    const [deleted] = await tx.run(Prisma.sql`
      DELETE FROM "events" WHERE "position" IN (
        SELECT "position" FROM "events" WHERE ${from} "time_us" < ${beforeUs}
        ORDER BY "time_us", "position" LIMIT ${PRUNING_BATCH})
      RETURNING "position", "time_us"`);
    const rows = deleted?.rows ?? [];
    if (rows.length === 0) return 0;
    const last = largest(rows, 0);
    await tx.run(Prisma.sql`
      UPDATE "event_log" SET "events" = "events" - ${rows.length},
        "pruned_position" = CASE WHEN "pruned_position" < ${last} THEN ${last} ELSE "pruned_position" END
      WHERE "id" = 1`);
    fromUs = largest(rows, 1);
    return rows.length;
  };
}

/** The steps that delete old rollups of one level. */
export function rollupSteps(
  { unitS, beforeS }: PruningLimits['rollups'][number],
  nowMs: () => number,
): PruningStep {
  let fromS: bigint | null = null;
  return async (tx) => {
    const from = fromS === null ? Prisma.empty : Prisma.sql`AND "start_s" >= ${fromS}`;
    const [, deleted] = await tx.run(
      Prisma.sql`UPDATE "event_log" SET "pruning_at_ms" = ${BigInt(nowMs())} WHERE "id" = 1`,
      Prisma.sql`
        DELETE FROM "event_rollups"
        WHERE ("agent_name", "unit_s", "start_s", "control_id", "name_key") IN (
          SELECT "agent_name", "unit_s", "start_s", "control_id", "name_key" FROM "event_rollups"
          WHERE "unit_s" = ${unitS} ${from} AND "start_s" < ${BigInt(beforeS)}
          ORDER BY "start_s" LIMIT ${PRUNING_BATCH})
        RETURNING "start_s"`,
    );
    const rows = deleted?.rows ?? [];
    if (rows.length > 0) fromS = largest(rows, 0);
    return rows.length;
  };
}

function largest(rows: readonly BulkRow[], column: number): bigint {
  let found: bigint | null = null;
  for (const row of rows) {
    const value = BigInt(String(row[column]));
    if (found === null || value > found) found = value;
  }
  return found ?? 0n;
}
