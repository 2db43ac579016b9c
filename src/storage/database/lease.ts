import { randomUUID } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database } from './database.js';

/** How long a lease lasts without renewal, in milliseconds, if nothing else is said. */
export const LEASE_MS = 15_000;
/** How often a holder looks whether it has to renew its lease, in milliseconds: the longest time after which a crash repeats work. */
const RENEWAL_MS = 1_000;
/** Renewals without a new position are this rare, to write little while there is no work; at least three for a lease. */
const IDLE_RENEWAL_MS = 5_000;
/** A lease counts as lost this long before it expires. */
const MARGIN_MS = 2_000;

export interface LeaseOptions {
  readonly bulk: Pick<Database['bulk'], 'read' | 'transaction'>;
  /** Of the work. */
  readonly name: string;
  /** A random id of this process. */
  readonly owner?: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The time after which another process takes over. */
  readonly leaseMs?: number;
}

/**
 * The right to do a background work, which one process has at a time, with the position of the work. Clocks of processes
 * may differ by less than the lease: a process whose clock is ahead takes over as much too early, and the other one is
 * refused its next renewal.
 */
export interface Lease {
  readonly leaseMs: number;
  /** Takes the lease, or extends it. Null when another process has it. */
  acquire(): Promise<{ readonly position: bigint | null } | null>;
  /** Extends the lease and stores the position, if any. False when another process has taken over; nothing is stored then. */
  renew(position: bigint | null): Promise<boolean>;
  /** Stores the position, if any, and ends the lease, so that any process can take it at once. */
  release(position: bigint | null): Promise<void>;
}

/**
 * Creates the lease of a work. The table `event_sinks` has the leases of all background works; it has its name from the
 * first of them, the sinks of events.
 */
export function createLease(options: LeaseOptions): Lease {
  const { bulk, name, owner = randomUUID(), now, leaseMs = LEASE_MS } = options;

  /** Not held, or expired. A lease that ends later than any new one is due to a wrong clock. */
  function isFree(nowMs: number): Prisma.Sql {
    return Prisma.sql`("owner" IS NULL OR "owner" = ${owner} OR "lease_until_ms" <= ${BigInt(nowMs)}
      OR "lease_until_ms" > ${BigInt(nowMs + 2 * leaseMs)})`;
  }

  async function isHeldByAnother(nowMs: number): Promise<boolean> {
    const rows = await bulk.read(
      'statistics',
      Prisma.sql`SELECT 1 FROM "event_sinks" WHERE "name" = ${name} AND NOT ${isFree(nowMs)}`,
    );
    return rows.length > 0;
  }

  async function update(position: bigint | null, until: bigint, nextOwner: string | null): Promise<boolean> {
    return bulk.transaction(async (tx) => {
      const [updated] = await tx.run(Prisma.sql`
        UPDATE "event_sinks" SET "position" = COALESCE(CAST(${position} AS BIGINT), "position"),
          "lease_until_ms" = ${until}, "owner" = CAST(${nextOwner} AS TEXT)
        WHERE "name" = ${name} AND "owner" = ${owner}`);
      return updated?.changes === 1;
    });
  }

  return {
    leaseMs,
    async acquire() {
      const nowMs = now();
      // Most processes wait for a long time: they only read.
      if (await isHeldByAnother(nowMs)) return null;
      return bulk.transaction(async (tx) => {
        const [, taken] = await tx.run(
          Prisma.sql`INSERT INTO "event_sinks" ("name") VALUES (${name}) ON CONFLICT ("name") DO NOTHING`,
          Prisma.sql`
            UPDATE "event_sinks" SET "owner" = ${owner}, "lease_until_ms" = ${BigInt(nowMs + leaseMs)}
            WHERE "name" = ${name} AND ${isFree(nowMs)} RETURNING "position"`,
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

/** Renews a lease in the background. */
export interface LeaseHolder {
  /** How long no other process can take the lease, in milliseconds; 0 or less if one has taken it, or may have. */
  leftMs(): number;
  /** Stores the last position and gives the lease up. Never rejects. */
  end(): Promise<void>;
}

/** Begins to renew a lease that was just taken. */
export function createLeaseHolder(options: {
  readonly lease: Lease;
  readonly monotonic: () => number;
  /** When it was asked for: it may have been taken at once, and told late. */
  readonly askedAtMs: number;
  /** Returns what to store. */
  readonly position: () => bigint | null;
}): LeaseHolder {
  const { lease, monotonic, askedAtMs, position } = options;
  let renewedAtMs = askedAtMs;
  let stored = position();
  let isTaken = false;
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const startMs = monotonic();
    const next = position();
    try {
      isTaken = !(await lease.renew(next));
      if (isTaken) return;
      renewedAtMs = startMs;
      stored = next;
    } catch {
      // The database is away, and so is the work; the lease expires if that lasts.
    }
  }

  const timer = setInterval(() => {
    const idleMs = Math.min(IDLE_RENEWAL_MS, lease.leaseMs / 3);
    const isDue = position() !== stored || monotonic() - renewedAtMs >= idleMs;
    if (isTaken || renewing !== undefined || !isDue) return;
    renewing = renew().finally(() => {
      renewing = undefined;
    });
  }, RENEWAL_MS);
  timer.unref();

  return {
    leftMs: () => (isTaken ? 0 : renewedAtMs + lease.leaseMs - MARGIN_MS - monotonic()),
    async end() {
      clearInterval(timer);
      await renewing;
      // Not released, it expires.
      if (!isTaken) await lease.release(position()).catch(() => {});
    },
  };
}
