import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { BulkDatabase, BulkRow, BulkTransaction } from '../../../src/storage/database/bulk.js';
import type { DatabaseLocation } from '../../../src/storage/database/database-url.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';

/** How long a holder has for its batch, by its own clock, in milliseconds. */
export const WORK_LIMIT_MS = 10_000;
/**
 * A lease expires after this time. The server gives up statements of a holder at its limit, so that nothing of it can
 * have an effect when another process takes over.
 */
const LEASE_MS = 15_000;
/** How long a process waits for the lease: longer than the lease of one that died. */
const WAIT_LIMIT_MS = 60_000;
/** Pauses between attempts to take it. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** After a batch, a process lets others have the lease that asked for it within this time. */
const WANTED_MS = 500;
const YIELD_MS = 2 * LONGEST_PAUSE_MS;

/** State of the log of events in ClickHouse, in the database of the controls. */
export interface LogState {
  /** The position of the last event of a complete batch. */
  readonly position: bigint;
  /** Events before this time and up to this position are deleted. Microseconds since 1970. */
  readonly prunedBeforeUs: bigint;
  readonly prunedUpTo: bigint;
  /** The highest position of a deleted event. */
  readonly prunedPosition: bigint;
  /** As of `EventLogState`. */
  readonly restored: { readonly from: bigint; readonly to: bigint };
}

/** What was deleted. */
export type Deletions = Pick<LogState, 'prunedBeforeUs' | 'prunedUpTo' | 'prunedPosition'>;

/** The right to write, which one process has at a time. */
export interface Lease {
  readonly state: LogState;
  /** The number of the batch that may be written. */
  readonly batch: bigint;
  /** The number of a batch whose writer died, to be completed first; 0 for none. */
  readonly unfinished: bigint;
  /** Milliseconds left for work. */
  left(): number;
  /** Reserves the number of the batch, after the unfinished one was completed up to a position. */
  begin(position: bigint): Promise<void>;
  /** Makes the batch visible to readers by position, and gives the lease back. Both or nothing. */
  complete(position: bigint, pruned?: Deletions): Promise<void>;
  /**
   * Gives the lease back without completing the batch. Never rejects: the lease would expire anyway. After `nothing` was
   * written, the batch is forgotten; after `something` was written, the next holder completes it.
   */
  release(written: 'nothing' | 'something'): Promise<void>;
}

export interface LeaseOptions {
  readonly kind: DatabaseLocation['kind'];
  readonly bulk: Pick<BulkDatabase, 'read' | 'transaction'>;
}

export interface Leases {
  /** Waits for the lease. Rejects with SERVICE_UNAVAILABLE when others keep it. */
  take(): Promise<Lease>;
  state(): Promise<LogState>;
}

const STATE = Prisma.sql`
  "position", "pruned_before_us", "pruned_up_to", "pruned_position", "restored_from", "restored_to"`;

export function createLeases({ kind, bulk }: LeaseOptions): Leases {
  const clock = Prisma.raw(
    kind === 'sqlite'
      ? `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`
      : 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
  );
  /** Others have asked for the lease while this process had it. */
  let mustYield = false;

  /** Undefined when another process has it. */
  async function tryTake(): Promise<Lease | undefined> {
    const owner = randomUUID();
    const startMs = performance.now();
    const row = await bulk.transaction(async (tx) => {
      const [taken] = await tx.run(Prisma.sql`
        UPDATE "event_store_lease" SET "owner" = ${owner}, "expires_at_ms" = ${clock} + ${LEASE_MS}
        WHERE "id" = 1 AND "expires_at_ms" <= ${clock}
        RETURNING "batch", "pending_batch", ${clock}, ${STATE}`);
      const found = taken?.rows[0];
      if (found === undefined) {
        await tx.run(Prisma.sql`UPDATE "event_store_lease" SET "wanted_at_ms" = ${clock} WHERE "id" = 1`);
        return undefined;
      }
      const unfinished = bigintOf(found[1]);
      if (unfinished === 0n) await reserve(tx, owner, nextBatch(found));
      return found;
    });
    return row && leaseOf(row, owner, startMs);
  }

  function leaseOf(row: BulkRow, owner: string, startMs: number): Lease {
    const batch = nextBatch(row);
    const isMine = Prisma.sql`"id" = 1 AND "owner" = ${owner} AND "expires_at_ms" > ${clock}`;
    return {
      state: stateOf(row.slice(3)),
      batch,
      unfinished: bigintOf(row[1]),
      left: () => startMs + WORK_LIMIT_MS - performance.now(),
      begin: (position) =>
        bulk.transaction(async (tx) => {
          const [done] = await tx.run(Prisma.sql`
            UPDATE "event_store_lease" SET "position" = ${position} WHERE ${isMine}`);
          if (done?.changes !== 1) throw lost();
          await reserve(tx, owner, batch);
        }),
      async complete(position, pruned) {
        const prunes =
          pruned === undefined
            ? Prisma.empty
            : Prisma.sql`, "pruned_before_us" = ${pruned.prunedBeforeUs}, "pruned_up_to" = ${pruned.prunedUpTo},
                "pruned_position" = ${pruned.prunedPosition}`;
        mustYield = await bulk.transaction(async (tx) => {
          const [done] = await tx.run(Prisma.sql`
            UPDATE "event_store_lease"
            SET "owner" = '', "expires_at_ms" = 0, "pending_batch" = 0, "position" = ${position} ${prunes}
            WHERE ${isMine} RETURNING CASE WHEN "wanted_at_ms" > ${clock} - ${WANTED_MS} THEN 1 ELSE 0 END`);
          const wanted = done?.rows[0]?.[0];
          if (wanted === undefined) throw lost();
          return Number(wanted) === 1;
        });
      },
      async release(written) {
        const forgotten = written === 'nothing' ? batch : -1n;
        await bulk
          .transaction((tx) =>
            tx.run(Prisma.sql`
              UPDATE "event_store_lease" SET "owner" = '', "expires_at_ms" = 0,
                "pending_batch" = CASE WHEN "pending_batch" = ${forgotten} THEN 0 ELSE "pending_batch" END
              WHERE ${isMine}`),
          )
          .catch(() => {});
      },
    };
  }

  return {
    async take() {
      if (mustYield) await sleep(YIELD_MS);
      mustYield = false;
      const untilMs = performance.now() + WAIT_LIMIT_MS;
      for (let pauseMs = FIRST_PAUSE_MS; performance.now() < untilMs; ) {
        const lease = await tryTake();
        if (lease !== undefined) return lease;
        await sleep(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
      throw unavailable('Another process has been writing events for too long.');
    },
    async state() {
      const [row] = await bulk.read(
        'statistics',
        Prisma.sql`SELECT ${STATE} FROM "event_store_lease" WHERE "id" = 1`,
      );
      return stateOf(row ?? []);
    },
  };
}

function reserve(tx: BulkTransaction, owner: string, batch: bigint): Promise<unknown> {
  return tx.run(Prisma.sql`
    UPDATE "event_store_lease" SET "batch" = ${batch}, "pending_batch" = ${batch}
    WHERE "id" = 1 AND "owner" = ${owner}`);
}

/** Numbers follow the clock, so that none is used again after an older copy of the database was restored. */
function nextBatch(row: BulkRow): bigint {
  const after = bigintOf(row[0]) + 1n;
  const now = bigintOf(row[2]) * 1_000n;
  return now > after ? now : after;
}

function stateOf([position, beforeUs, upTo, prunedPosition, from, to]: BulkRow): LogState {
  return {
    position: bigintOf(position),
    prunedBeforeUs: bigintOf(beforeUs),
    prunedUpTo: bigintOf(upTo),
    prunedPosition: bigintOf(prunedPosition),
    restored: { from: bigintOf(from), to: bigintOf(to) },
  };
}

/** The batch was or will be completed by the process that has the lease now. */
function lost(): OutcomeUnknownError {
  return new OutcomeUnknownError('Another process has taken over the writing of events.');
}
