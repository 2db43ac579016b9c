import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../../storage/database/database.js';

/** How long a lease lasts without renewal, in milliseconds: the time after which another process takes over. */
export const LEASE_MS = 15_000;

export interface SinkLeaseOptions {
  readonly bulk: Pick<Database['bulk'], 'read' | 'transaction'>;
  readonly sink: string;
  /** A random id of this process. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly leaseMs?: number;
}

/**
 * The right to deliver to a sink, which one process has at a time, with the position of the sink. Clocks of processes
 * may differ: a process whose clock is ahead can take over too early, and the other one is refused its next renewal.
 */
export interface SinkLease {
  /** Takes the lease. Null when another process has it. */
  acquire(): Promise<{ readonly position: bigint | null } | null>;
  /** Extends the lease and stores the position. False when another process has taken over; nothing is stored then. */
  renew(position: bigint | null): Promise<boolean>;
  /** Stores the position and ends the lease, so that any process can take it at once. */
  release(position: bigint | null): Promise<void>;
}

export function createSinkLease({ bulk, sink, owner, now, leaseMs = LEASE_MS }: SinkLeaseOptions): SinkLease {
  /** Not held, or expired. A lease that ends later than any new one is due to a wrong clock. */
  function isFree(nowMs: number): Prisma.Sql {
    return Prisma.sql`("owner" IS NULL OR "owner" = ${owner} OR "lease_until_ms" <= ${BigInt(nowMs)}
      OR "lease_until_ms" > ${BigInt(nowMs + 2 * leaseMs)})`;
  }

  async function isHeldByAnother(nowMs: number): Promise<boolean> {
    const rows = await bulk.read(
      'statistics',
      Prisma.sql`SELECT 1 FROM "event_sinks" WHERE "name" = ${sink} AND NOT ${isFree(nowMs)}`,
    );
    return rows.length > 0;
  }

  async function update(position: bigint | null, until: bigint, nextOwner: string | null): Promise<boolean> {
    return bulk.transaction(async (tx) => {
      const [updated] = await tx.run(Prisma.sql`
        UPDATE "event_sinks" SET "position" = COALESCE(CAST(${position} AS BIGINT), "position"),
          "lease_until_ms" = ${until}, "owner" = CAST(${nextOwner} AS TEXT)
        WHERE "name" = ${sink} AND "owner" = ${owner}`);
      return updated?.changes === 1;
    });
  }

  return {
    async acquire() {
      const nowMs = now();
      // Most processes wait for a long time: they only read.
      if (await isHeldByAnother(nowMs)) return null;
      return bulk.transaction(async (tx) => {
        const [, taken] = await tx.run(
          Prisma.sql`INSERT INTO "event_sinks" ("name") VALUES (${sink}) ON CONFLICT ("name") DO NOTHING`,
          Prisma.sql`
            UPDATE "event_sinks" SET "owner" = ${owner}, "lease_until_ms" = ${BigInt(nowMs + leaseMs)}
            WHERE "name" = ${sink} AND ${isFree(nowMs)} RETURNING "position"`,
        );
        const row = taken?.rows[0];
        if (row === undefined) return null;
        const position = row[0] ?? null;
        return { position: position === null ? null : BigInt(String(position)) };
      });
    },
    renew: (position) => update(position, BigInt(now() + leaseMs), owner),
    async release(position) {
      await update(position, 0n, null);
    },
  };
}
