import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { BulkDatabase, BulkTransaction } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { readNumber, select } from '../../../storage/database/rows.js';
import { bigintOf } from '../store/count.js';
import { ALL_COLUMNS } from './event-row.js';
import { createSegmentFilters } from './segment-filters.js';
import { OPEN_TABLE, tableOf } from './segment-tables.js';
import {
  closedSegments,
  closeSegment,
  createSegment,
  dropSegment,
  isFull,
  LOG,
  lockLog,
  segmentsIn,
} from './segments.js';
import type { StoredIds } from './stored-ids.js';

/** How long until work is looked for again, in milliseconds: other processes close segments, too. */
const INTERVAL_MS = 30_000;
/** Rows of an old table that one transaction moves: writers of events wait for it. */
const MOVED_ROWS = 500;
/** Pause before the next attempt to close a table that others use, in milliseconds. They wait for each attempt. */
const CLOSE_AGAIN_MS = 10_000;
/** The longest pause between two transactions. It is as long as the last one, so writers get half of the time. */
const MAX_REST_MS = 1_000;

export interface UpkeepOptions {
  readonly kind: DatabaseLocation['kind'];
  readonly bulk: Pick<BulkDatabase, 'read' | 'transaction'>;
  readonly ids: StoredIds;
  /**
   * How long after the start the table of an earlier version is left as it is, in milliseconds: processes of that version
   * know no other table, so none of them should run when it is taken over.
   */
  readonly takeoverDelayMs: number;
  /** For failures that recur while the database is unreachable, or a table is used by others. */
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
}

/** The work on segments that no caller waits for. It can be interrupted at any time, and done by several processes. */
export interface SegmentUpkeep {
  /** Resolves when the tables of an empty log are there. Never rejects. */
  start(): Promise<void>;
  /** Called when the open table should be closed. */
  closeSoon(): void;
  /** Ends after the current statement. Never rejects. */
  close(): Promise<void>;
}

/**
 * Creates the upkeep. In this order, as long as there is something to do: it closes the open table when it is full, loads
 * filters of ids, builds those that are missing, and moves the events of an old table into segments.
 */
export function createSegmentUpkeep(options: UpkeepOptions): SegmentUpkeep {
  const { kind, bulk, ids, failures } = options;
  const filters = createSegmentFilters({ bulk, ids, isClosed: () => closed });
  const takeoverMs = performance.now() + options.takeoverDelayMs;
  let closed = false;
  let again = false;
  let closeNotBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      if (!closed) await work();
      return true;
    } catch (error) {
      failures.failed(what, `${what} must wait`, error);
      return false;
    }
  }

  async function closeOnce(): Promise<void> {
    const isClosed = await attempt('closing a table of events', closeFull);
    if (!isClosed) closeNotBeforeMs = performance.now() + CLOSE_AGAIN_MS;
  }

  async function work(): Promise<void> {
    await closeOnce();
    await attempt('reading filters of events', filters.load);
    await attempt('building filters of events', filters.build);
    await attempt('moving events of an older version', moveOld);
  }

  async function closeFull(): Promise<void> {
    if (performance.now() < closeNotBeforeMs) return;
    const [log] = await select(LOG, bulk)`FROM "event_log" WHERE "id" = 1`;
    if (log === undefined) return;
    const { position, generation } = log;
    if (generation === 0n && position > 0n && performance.now() < takeoverMs) {
      closeNotBeforeMs = takeoverMs;
      return;
    }
    if (generation !== 0n && !isFull(position, await closedSegments(bulk))) return;
    if (await mayCreateTables(kind, bulk)) await bulk.transaction((tx) => closeSegment(kind, tx));
    else
      failures.told('warn', 'tables of events', 'the open table of events stays open: storing gets slower', {
        reason: 'the user of the database may not create tables, or does not own those of events',
      });
  }

  async function moveOld(): Promise<void> {
    const all = await closedSegments(bulk);
    if (!all.some(({ isOld }) => isOld)) return;
    failures.told('info', 'old events', 'the events of an older version are moved into segments', {});
    let moved = 0;
    for (let rows = 1; rows > 0 && !closed; ) {
      const startMs = performance.now();
      rows = await bulk.transaction((tx) => moveRows(kind, tx));
      moved += rows;
      if (again) return;
      await sleep(Math.min(MAX_REST_MS, performance.now() - startMs));
    }
    if (closed) return;
    failures.told('info', 'moved events', 'all events of an older version were moved', { moved });
    // Their last segment lacks its filter.
    again = true;
  }

  function lookOnce(): void {
    if (closed) return;
    again = running !== undefined;
    running ??= work().finally(() => {
      running = undefined;
      if (again) setImmediate(lookOnce);
    });
  }

  return {
    async start() {
      timer = setInterval(lookOnce, INTERVAL_MS);
      timer.unref();
      running = closeOnce();
      await running;
      running = undefined;
      lookOnce();
    },
    closeSoon() {
      if (performance.now() >= closeNotBeforeMs) lookOnce();
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** A statement without permission would be reported as a failure of the storage. */
async function mayCreateTables(
  kind: DatabaseLocation['kind'],
  bulk: Pick<BulkDatabase, 'read'>,
): Promise<boolean> {
  if (kind === 'sqlite') return true;
  const may = await readNumber(
    bulk,
    Prisma.sql`
      SELECT CASE WHEN has_schema_privilege(current_schema(), 'CREATE') AND bool_and(pg_has_role("relowner", 'USAGE'))
        THEN 1 ELSE 0 END
      FROM pg_class WHERE "oid" IN (to_regclass('${OPEN_TABLE}'), to_regclass('"all_events"'))`,
  );
  return may === 1;
}

/** Moves some rows of the old table into their segment. Without any, drops the table. Returns their number. */
async function moveRows(kind: DatabaseLocation['kind'], tx: BulkTransaction): Promise<number> {
  await lockLog(tx);
  const all = await segmentsIn(tx);
  const old = all.find(({ isOld }) => isOld);
  if (old === undefined) return 0;
  const [positions] = await tx.run(
    Prisma.sql`SELECT "position" FROM ${tableOf(old)} ORDER BY "position" LIMIT ${MOVED_ROWS}`,
  );
  const rows = (positions?.rows ?? []).map(([position]) => bigintOf(position));
  const first = rows[0];
  if (first === undefined) {
    await dropSegment(kind, tx, old);
    return 0;
  }
  const target =
    all.find((one) => !one.isOld && one.first <= first && first <= one.last) ??
    (await createSegment(kind, tx, old, first));
  const fitting = rows.filter((position) => position <= target.last);
  const upTo = fitting.at(-1) ?? first;
  await tx.run(
    Prisma.sql`
      INSERT INTO ${tableOf(target)} (${ALL_COLUMNS})
      SELECT ${ALL_COLUMNS} FROM ${tableOf(old)} WHERE "position" <= ${upTo}`,
    Prisma.sql`DELETE FROM ${tableOf(old)} WHERE "position" <= ${upTo}`,
  );
  return fitting.length;
}
