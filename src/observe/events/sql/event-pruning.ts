import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow, BulkTransaction } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { jsonElements } from '../../../storage/database/json-elements.js';
import { bigint, columns, readNumber, text } from '../../../storage/database/rows.js';
import { TRUE } from '../../../storage/database/text.js';
import { bigintOf } from '../store/count.js';
import type { EventRetention, Oldest, PruningCounts, PruningLimits } from '../store/event-retention.js';
import { claimPruning } from '../store/log-row.js';
import { higher } from '../store/position-order.js';
import { ROLLUP_LEVELS } from '../store/rollup-levels.js';
import { agentsOfOthers, countByNamespace, HAS_OTHERS } from './namespace-events.js';
import { ALL_EVENTS, OPEN_TABLE, type Segment, tableOf } from './segment-tables.js';
import { closedSegments, dropSegment, segmentsIn } from './segments.js';

/** Rows deleted by one transaction: writers of events wait for it. */
export const PRUNING_BATCH = 1_000;

/** A claim on pruning expires after this time without renewal, in milliseconds. Longer than any of its batches. */
const CLAIM_MS = 30_000;

/**
 * A segment is deleted as a whole if that is at most so much later than its events, in microseconds: deleting them one
 * by one costs as much as storing them.
 */
const WHOLE_SEGMENT_WITHIN_US = 86_400_000_000n;

type Bulk = Pick<BulkDatabase, 'read' | 'transaction'>;

/** `now` is in milliseconds since 1970. */
export function createSqlRetention(
  { kind, bulk }: { readonly kind: DatabaseLocation['kind']; readonly bulk: Bulk },
  now: () => number,
): EventRetention {
  const inTransactions = (step: PruningStep) => () => bulk.transaction(step);
  return {
    oldest: () => findOldest(bulk),
    count: (limits) => countPrunable(bulk, limits),
    claim: () => claimPruning('event_log', bulk, now(), CLAIM_MS),
    eventBatches: (beforeUs) => inTransactions(eventSteps(kind, beforeUs, now)),
    rollupBatches: (level) => inTransactions(rollupSteps(level, now)),
  };
}

async function countPrunable(
  bulk: Pick<BulkDatabase, 'read'>,
  { eventsBeforeUs, rollups }: PruningLimits,
): Promise<PruningCounts> {
  const counts = {
    events: eventsBeforeUs === null ? 0 : await countEvents(bulk, eventsBeforeUs),
    rollups: 0,
  };
  for (const { unitS, beforeS } of rollups) {
    counts.rollups += await readNumber(
      bulk,
      Prisma.sql`
        SELECT COUNT(*) FROM "event_rollups" WHERE "unit_s" = ${unitS} AND "start_s" < ${BigInt(beforeS)}`,
    );
  }
  return counts;
}

async function countEvents(bulk: Pick<BulkDatabase, 'read'>, beforeUs: bigint): Promise<number> {
  const count = (table: Prisma.Sql) =>
    readNumber(bulk, Prisma.sql`SELECT COUNT(*) FROM ${table} WHERE "time_us" < ${beforeUs}`);
  let all = await count(OPEN_TABLE);
  for (const segment of await closedSegments(bulk)) {
    const [times] = await bulk.read('search', timesOf(segment));
    if (fateOf(segment, times, beforeUs) !== 'stays') all += await count(tableOf(segment));
  }
  return all;
}

/** The first and the last time of the events of a segment. */
function timesOf(segment: Segment): Prisma.Sql {
  const table = tableOf(segment);
  return Prisma.sql`
    SELECT (SELECT "time_us" FROM ${table} ORDER BY "time_us" LIMIT 1),
      (SELECT "time_us" FROM ${table} ORDER BY "time_us" DESC LIMIT 1)`;
}

/** What a pruning does with a segment now: some of its events are deleted, all of them, or none. */
function fateOf(
  { isOld }: Segment,
  times: BulkRow | undefined,
  beforeUs: bigint,
): 'some' | 'whole' | 'stays' {
  const [first, last] = (times ?? []).map((time) => (time === null ? null : bigintOf(time)));
  // All events of an empty segment were deleted; those of an old table were moved.
  if (first === null || first === undefined || last === null || last === undefined)
    return isOld ? 'stays' : 'whole';
  if (last < beforeUs) return 'whole';
  if (first >= beforeUs) return 'stays';
  return last < beforeUs + WHOLE_SEGMENT_WITHIN_US && !isOld ? 'stays' : 'some';
}

async function findOldest(bulk: Pick<BulkDatabase, 'read'>): Promise<Oldest> {
  const rollups = ROLLUP_LEVELS.map(
    ({ unitS }) => Prisma.sql`
      SELECT CAST(${unitS} AS INTEGER), MIN("start_s") FROM "event_rollups" WHERE "unit_s" = ${unitS}`,
  );
  // Nothing waits for it, and on SQLite the thread of the other queue starts with the first statistics.
  const rows = await bulk.read(
    'search',
    Prisma.sql`
      SELECT 0, (SELECT "time_us" FROM ${ALL_EVENTS} ORDER BY "time_us" LIMIT 1) UNION ALL ${Prisma.join(rollups, ' UNION ALL ')}`,
  );
  const found = rows.flatMap(([unitS, first]): [number, bigint][] =>
    first === null || first === undefined ? [] : [[Number(unitS), bigintOf(first)]],
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
function eventSteps(kind: DatabaseLocation['kind'], beforeUs: bigint, nowMs: () => number): PruningStep {
  /** Numbers of the segments that have nothing to delete any more. */
  const done = new Set<number>();
  let deleteOpen = rowSteps(kind, OPEN_TABLE, beforeUs);
  let seen: string | undefined;
  let current: { readonly number: number; readonly deleteRows: RowStep } | undefined;

  async function nextSegment(tx: BulkTransaction): Promise<number> {
    for (const segment of await segmentsIn(tx)) {
      const { number } = segment;
      if (done.has(number)) continue;
      const [times] = await tx.run(timesOf(segment));
      const fate = fateOf(segment, times?.rows[0], beforeUs);
      let rows = 0;
      if (fate === 'whole') rows = await deleteWhole(kind, tx, segment);
      if (fate === 'some') {
        if (current?.number !== number)
          current = { number, deleteRows: rowSteps(kind, tableOf(segment), beforeUs) };
        rows = await current.deleteRows(tx);
      }
      if (rows > 0) return rows;
      done.add(number);
    }
    return 0;
  }

  return async (tx) => {
    const [log] = await tx.run(Prisma.sql`
      UPDATE "event_log" SET "pruning_at_ms" = ${BigInt(nowMs())},
        "pruned_before_us" = CASE WHEN "pruned_before_us" < ${beforeUs} THEN ${beforeUs} ELSE "pruned_before_us" END
      WHERE "id" = 1 RETURNING "generation"`);
    const generation = String(log?.rows[0]?.[0]);
    // The open table may have become a segment.
    if (generation !== seen) deleteOpen = rowSteps(kind, OPEN_TABLE, beforeUs);
    seen = generation;
    const rows = await nextSegment(tx);
    return rows > 0 ? rows : deleteOpen(tx);
  };
}

/** Deletes a batch of the events of a table, as part of a step. Returns their number. */
type RowStep = (tx: BulkTransaction) => Promise<number>;

const DELETED = columns({ position: bigint, timeUs: bigint, agentName: text });

function rowSteps(kind: DatabaseLocation['kind'], table: Prisma.Sql, beforeUs: bigint): RowStep {
  const elements = jsonElements(kind);
  let fromUs: bigint | null = null;
  return async (tx) => {
    // Rows deleted by an earlier step remain in the index until the database has cleaned up.
    const from = fromUs === null ? Prisma.empty : Prisma.sql`"time_us" >= ${fromUs} AND`;
    const [deleted] = await tx.run(Prisma.sql`
      DELETE FROM ${table} WHERE "position" IN (
        SELECT "position" FROM ${table} WHERE ${from} "time_us" < ${beforeUs}
        ORDER BY "time_us", "position" LIMIT ${PRUNING_BATCH})
      RETURNING ${DELETED.list}`);
    const rows = (deleted?.rows ?? []).map(DELETED.read);
    if (rows.length === 0) return 0;
    await countByNamespace(
      tx,
      elements,
      rows.map(({ agentName }) => [agentName, -1]),
    );
    await tx.run(countDeleted(rows.length, rows.map(({ position }) => position).reduce(higher)));
    fromUs = rows.map(({ timeUs }) => timeUs).reduce(higher);
    return rows.length;
  };
}

/** Deletes a segment, as part of a step. Returns the number of its events. */
async function deleteWhole(
  kind: DatabaseLocation['kind'],
  tx: BulkTransaction,
  segment: Segment,
): Promise<number> {
  const [counted] = await tx.run(
    Prisma.sql`SELECT COUNT(*), MAX("position"), ${HAS_OTHERS} FROM ${tableOf(segment)}`,
  );
  const [events, last, hasOthers] = counted?.rows[0] ?? [];
  if (Number(hasOthers) === 1) {
    const agents = await agentsOfOthers(tx, tableOf(segment), TRUE);
    const removed = agents.map(([key, count]) => [key, -count] as const);
    await countByNamespace(tx, jsonElements(kind), removed);
  }
  await dropSegment(kind, tx, segment);
  if (Number(events) === 0) return 0;
  await tx.run(countDeleted(Number(events), bigintOf(last)));
  return Number(events);
}

function countDeleted(events: number, lastPosition: bigint): Prisma.Sql {
  return Prisma.sql`
    UPDATE "event_log" SET "events" = "events" - ${events},
      "pruned_position" = CASE WHEN "pruned_position" < ${lastPosition} THEN ${lastPosition} ELSE "pruned_position" END
    WHERE "id" = 1`;
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
    if (rows.length > 0) fromS = rows.map(([startS]) => bigintOf(startS)).reduce(higher);
    return rows.length;
  };
}
