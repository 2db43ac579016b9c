import type { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createRegularLook, type RegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { originOfService } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { ApprovalMeter } from './approval-meter.js';
import { EXPIRED } from './approval-row.js';
import { endAll, endsRecord } from './lost-approvals.js';

export interface ApprovalUpkeepOptions {
  readonly database: Pick<Database, 'client' | 'mutateAside'>;
  /** How long the step of an approval is kept after its end, in milliseconds. */
  readonly retentionMs: number;
  readonly meter: ApprovalMeter;
  readonly changed: () => void;
  /** Whether streams or calls wait for approvals here. */
  readonly isWatched: () => boolean;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly intervalMs?: number;
  /** Milliseconds between two looks while nothing waits. */
  readonly idleMs?: number | undefined;
}

/** Streams tell of an expiry this much later at most, in milliseconds; replies of other calls tell it at once. */
const INTERVAL_MS = 1_000;
const IDLE_MS = 15_000;
/** Milliseconds between two counts of the open ones. */
const COUNT_MS = 15_000;
/** Approvals ended, or steps removed, in one transaction, which locks out mutations. */
const BATCH = 200;

/** Stores that approvals have expired, and removes the steps of those that ended long ago. One of several processes on a port must. */
export function createApprovalUpkeep(options: ApprovalUpkeepOptions): RegularLook {
  const { database, retentionMs, meter, changed, isWatched, failures, now } = options;
  const { intervalMs = INTERVAL_MS, idleMs = IDLE_MS } = options;
  const { client } = database;

  async function expire(): Promise<boolean> {
    const nowMs = now();
    const due = {
      where: { state: { in: ['pending', 'approved'] }, expiresAtMs: { lte: BigInt(nowMs) } },
      select: { id: true, namespace: true },
      orderBy: { id: 'asc' },
      take: BATCH,
    } satisfies Prisma.ApprovalFindManyArgs;
    // Usually nothing, and then nothing is locked.
    const [first] = await client.approval.findMany({ ...due, take: 1 });
    if (first === undefined) return false;
    const count = await database.mutateAside<number>(async (tx, entryNo) => {
      const found = await tx.approval.findMany({
        ...due,
        where: { ...due.where, namespace: first.namespace },
      });
      if (found.length === 0) return { value: 0, audit: null };
      const ids = found.map(({ id }) => id);
      await endAll(tx, ids, 'expired', EXPIRED, nowMs, entryNo);
      return { value: ids.length, audit: endsRecord('approval.expire', found, nowMs, EXPIRED) };
    });
    meter.ended('expired', count);
    changed();
    return count > 0;
  }

  async function removeSteps(): Promise<boolean> {
    const beforeMs = now() - retentionMs;
    const due = {
      where: { endedAtMs: { lt: BigInt(beforeMs) }, step: { not: null } },
      select: { id: true },
      take: BATCH,
    } as const;
    if ((await client.approval.findFirst({ ...due, take: 1 })) === null) return false;
    return database.mutateAside<boolean>(async (tx) => {
      const ids = (await tx.approval.findMany(due)).map(({ id }) => id);
      if (ids.length === 0) return { value: false, audit: null };
      const data = { step: null, narrowedStep: null, explanations: null };
      await tx.approval.updateMany({ where: { id: { in: ids } }, data });
      const audit = {
        action: 'approval.remove_steps',
        resource: 'approval',
        id: null,
        before: { approvals: ids },
        after: null,
        origin: originOfService(now()),
      } as const;
      return { value: true, audit };
    });
  }

  let countedAtMs = Number.NEGATIVE_INFINITY;

  async function count(): Promise<void> {
    const nowMs = now();
    if (Math.abs(nowMs - countedAtMs) < COUNT_MS) return;
    countedAtMs = nowMs;
    meter.counted(await client.approval.count({ where: { state: { in: ['pending', 'approved'] } } }));
  }

  let skipped = 0;
  const regular = createRegularLook({
    firstMs: intervalMs / 2,
    intervalMs,
    async look() {
      skipped += 1;
      if (!isWatched() && skipped * intervalMs < idleMs) return;
      skipped = 0;
      try {
        await withServiceErrors(async () => {
          while (!regular.isClosed && (await expire()));
          while (!regular.isClosed && (await removeSteps()));
          await count();
        });
      } catch (error) {
        failures.failed('approvals', 'expired approvals could not be ended now; they are not used', error);
      }
    },
  });
  return regular;
}
