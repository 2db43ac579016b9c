import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { FactsLog, RepeatLog } from '../../contract/runtime/repeat-log.js';
import { type AuditOrigin, originOfService } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import type { AuditStore } from './audit-store.js';

/** Delay of the first look after the start of a process, and the interval of later ones, in milliseconds. */
const FIRST_LOOK_MS = 60_000;
const LOOK_INTERVAL_MS = 3_600_000;
/** Entries deleted in one transaction, which locks out mutations. */
const BATCH = 1_000;
/** Pause between two of them, in milliseconds. */
const REST_MS = 100;
const DAY_MS = 86_400_000;

/** Keeps the audit log: deletes expired entries, and logs the end of the chain once a day. */
export interface AuditUpkeep {
  /** Looks soon, and then at every interval. One of several processes on a port must. */
  start(): void;
  /** Deletes expired entries; resolves with their number. */
  prune(): Promise<number>;
  /** Ends after the current batch. Never rejects. */
  close(): Promise<void>;
}

export interface AuditUpkeepOptions {
  readonly database: Pick<Database, 'mutateAside'>;
  readonly store: Pick<AuditStore, 'chain' | 'walk'>;
  /** How long entries are kept; 0 forever. */
  readonly retentionDays: number;
  readonly log: FactsLog<'info'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createAuditUpkeep(options: AuditUpkeepOptions): AuditUpkeep {
  const { database, store, retentionDays, log, failures, now } = options;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether the first entry is expired. Usually not, and then nothing is locked. */
  async function isDue(beforeMs: number): Promise<boolean> {
    for await (const [oldest] of store.walk({}, { rows: 1, bytes: 1 })) {
      return oldest !== undefined && oldest.timeMs < beforeMs;
    }
    return false;
  }

  async function prune(): Promise<number> {
    if (retentionDays === 0) return 0;
    const beforeMs = now() - retentionDays * DAY_MS;
    let all = 0;
    while (!regular.isClosed && (await isDue(beforeMs))) {
      const pruned = await pruneBatch(database, beforeMs, originOfService(now()));
      if (pruned === 0) break;
      all += pruned;
      await sleep(REST_MS);
    }
    return all;
  }

  async function look(): Promise<void> {
    try {
      const pruned = await prune();
      if (pruned > 0) log.info({ entries: pruned }, 'old entries of the audit log were pruned');
      if (now() - loggedAtMs < DAY_MS) return;
      const { position, hash } = (await store.chain()).head;
      // A copy outside of the database, by which a chain that was rewritten as a whole is found.
      if (position > 0) log.info({ position, hash }, 'the last entry of the audit log');
      loggedAtMs = now();
    } catch (error) {
      failures.failed('audit', 'the audit log could not be pruned now', error);
    }
  }

  const regular = createRegularLook({ firstMs: FIRST_LOOK_MS, intervalMs: LOOK_INTERVAL_MS, look });
  return {
    start: regular.start,
    prune,
    close: regular.close,
  };
}

/**
 * Deletes the expired entries at the beginning of the chain, and moves its anchor to the last of them; records it.
 * Returns their number.
 */
function pruneBatch(
  database: Pick<Database, 'mutateAside'>,
  beforeMs: number,
  origin: AuditOrigin,
): Promise<number> {
  return database.mutateAside<number>(async (tx) => {
    const rows = await tx.$queryRaw<{ position: bigint; time_ms: bigint; hash: string }[]>`
      SELECT "position", "time_ms", "hash" FROM "audit_entries" ORDER BY "position" LIMIT ${BATCH}`;
    // Clocks differ between processes: an older entry may follow one that is kept.
    const kept = rows.findIndex((row) => Number(row.time_ms) >= beforeMs);
    const expired = kept === -1 ? rows : rows.slice(0, kept);
    const last = expired.at(-1);
    if (last === undefined) return { value: 0, audit: null };
    // The anchor first: entries after it cannot be deleted.
    await tx.$executeRaw`
      UPDATE "service_state" SET "audit_anchor_position" = ${last.position}, "audit_anchor_hash" = ${last.hash}
      WHERE "id" = 1`;
    await tx.$executeRaw(Prisma.sql`DELETE FROM "audit_entries" WHERE "position" <= ${last.position}`);
    const audit = {
      action: 'database.prune_audit',
      resource: 'database',
      id: null,
      before: { entries: expired.length, first_position: Number(expired[0]?.position) },
      after: { anchor: { position: Number(last.position), hash: last.hash } },
      origin,
    } as const;
    return { value: expired.length, audit };
  });
}
