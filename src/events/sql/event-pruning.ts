import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow, BulkTransaction } from '../../database/bulk.js';
import { ROLLUP_LEVELS } from '../rollup-levels.js';
import type { EventRetention, Oldest, PruningCounts, PruningLimits } from '../store/event-retention.js';

/** Rows deleted by one transaction: writers of events wait for it. */
export const PRUNING_BATCH = 1_000;

/** A claim on pruning expires after this time without renewal, in milliseconds. Longer than any of its batches. */
const CLAIM_MS = 30_000;

/** `now` is in milliseconds since 1970. */
export function createSqlRetention(
  bulk: Pick<BulkDatabase, 'read' | 'transaction'>,
  now: () => number,
): EventRetention {
  const inTransactions = (step: PruningStep) => () => bulk.transaction(step);
  return {
    oldest: () => findOldest(bulk),
    count: (limits) => countPrunable(bulk, limits),
    claim: () => claim(bulk, now()),
    eventBatches: (beforeUs) => inTransactions(eventSteps(beforeUs, now)),
    rollupBatches: (level) => inTransactions(rollupSteps(level, now)),
  };
}

/** Claims the work, unless another process has it. A claim far in the future is due to a wrong clock. */
async function claim(bulk: Pick<BulkDatabase, 'transaction'>, nowMs: number): Promise<boolean> {
  return bulk.transaction(async (tx) => {
    const [claimed] = await tx.run(Prisma.sql`
      UPDATE "event_log" SET "pruning_at_ms" = ${BigInt(nowMs)} WHERE "id" = 1
        AND ("pruning_at_ms" <= ${BigInt(nowMs - CLAIM_MS)} OR "pruning_at_ms" > ${BigInt(nowMs + CLAIM_MS)})`);
    return claimed?.changes === 1;
  });
}

async function countPrunable(
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

async function findOldest(bulk: Pick<BulkDatabase, 'read'>): Promise<Oldest> {
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

/** One batch: returns the number of deleted rows. */
type PruningStep = (tx: BulkTransaction) => Promise<number>;

/**
 * The steps that delete old events. Each begins with the lock that all writers of events acquire first, and
 * in the same transaction updates the number of events and records its progress: a rebuild of the statistics
 * must not treat pruned events as if they had never existed, and a reader by position has to know that some
 * are missing.
 */
function eventSteps(beforeUs: bigint, nowMs: () => number): PruningStep {
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
function rollupSteps({ unitS, beforeS }: PruningLimits['rollups'][number], nowMs: () => number): PruningStep {
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
