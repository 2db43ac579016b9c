import { randomUUID } from 'node:crypto';
import { timeLimited } from '../../contract/call/time-limited.js';
import { type AuditOrigin, type AuditRecord, appendEntry } from './audit-log.js';
import { type Change, pruneChanges, recordChange, recordedChange } from './change-log.js';
import type { DbClient } from './client.js';
import { unavailable } from './errors.js';
import type { DatabaseOptions, OpenedStorage } from './open-storage.js';
import { advanceRevision, lockRevision } from './revision-lock.js';

/** How long a transaction may wait to begin: longer than each wait of the underlying drivers. */
const TRANSACTION_START_LIMIT_MS = 8_000;
/** How long a transaction may last. It holds the lock that all mutations of all processes need. */
const TRANSACTION_LIMIT_MS = 10_000;
/**
 * How long a mutation may take after acquiring its turn, whatever the drivers still wait for: an unresponsive
 * database must block neither its caller nor all later ones. Longer than the waits for locks.
 */
const MUTATION_LIMIT_MS = 6_000;

/** Result of a mutation's work: its value, and whether it wrote anything. */
export interface Mutation<T> {
  readonly value: T;
  readonly changed: boolean;
  /** What other processes have to reload; without it, everything. */
  readonly change?: Change;
  /** Its entry of the audit log; the changes of all callers have one. */
  readonly audit?: AuditRecord;
}

/** Result of work beside the revisions: its value, and its entry of the audit log; null if nothing changed. */
export interface AsideResult<T> {
  readonly value: T;
  readonly audit: AuditRecord | null;
}

/** A finished mutation and the revision after it. */
export interface MutationResult<T> {
  readonly value: T;
  readonly changed: boolean;
  readonly revision: number;
}

/** The transactions that advance or lock the revision, with their entries of the change log and the audit log. */
export function createTransactions(
  { kind, monitor, client }: Pick<OpenedStorage, 'kind' | 'monitor' | 'client'>,
  { beforeCommit, onAudit }: Pick<DatabaseOptions, 'beforeCommit' | 'onAudit'>,
) {
  const limits = { maxWait: TRANSACTION_START_LIMIT_MS, timeout: TRANSACTION_LIMIT_MS };

  async function transaction<T>(
    work: (tx: DbClient) => Promise<Mutation<T>>,
    givenUp: AbortSignal,
  ): Promise<MutationResult<T>> {
    let unchanged: MutationResult<T> | undefined;
    try {
      return await client.prisma.$transaction(async (tx) => {
        const { revision, end } = await advanceRevision(tx);
        const { value, changed, change, audit } = await work(tx);
        if (changed) {
          const recorded = recordedChange(revision, change);
          await recordChange(tx, kind, recorded);
          const last = audit === undefined ? end : await appendEntry(tx, kind, end, revision, audit);
          if (audit !== undefined) await onAudit?.(tx, audit);
          const follows = await beforeCommit?.(tx, recorded, last.position + 1);
          if (follows) {
            await appendEntry(tx, kind, last, null, follows);
            await onAudit?.(tx, follows);
          }
          // The caller has already received a failure.
          givenUp.throwIfAborted();
          return { value, changed, revision };
        }
        unchanged = { value, changed, revision: revision - 1 };
        throw new NothingChanged();
      }, limits);
    } catch (error) {
      if (error instanceof NothingChanged && unchanged !== undefined) return unchanged;
      throw error;
    }
  }

  function mutate<T>(work: (tx: DbClient) => Promise<Mutation<T>>): Promise<MutationResult<T>> {
    return monitor.guardVerified(
      () => withinLimit((givenUp) => transaction(work, givenUp)),
      ({ changed }) => changed,
    );
  }

  async function mutateAside<T>(
    work: (tx: DbClient, entryNo: number) => Promise<AsideResult<T>>,
  ): Promise<T> {
    let unchanged: AsideResult<T> | undefined;
    const run = async (tx: DbClient): Promise<T> => {
      const { end } = await lockRevision(tx);
      const done = await work(tx, end.position + 1);
      if (done.audit === null) {
        unchanged = done;
        throw new NothingChanged();
      }
      await appendEntry(tx, kind, end, null, done.audit);
      await onAudit?.(tx, done.audit);
      return done.value;
    };
    try {
      return await monitor.guardVerified(() => client.prisma.$transaction(run, limits));
    } catch (error) {
      if (error instanceof NothingChanged && unchanged !== undefined) return unchanged.value;
      throw error;
    }
  }

  /** Makes the revision greater than another one. Skipped revisions have no log, so processes that follow it know that anything may have changed. */
  function outrun(told: number, origin: AuditOrigin): Promise<number> {
    const work = async (tx: DbClient): Promise<number> => {
      const { revision: next, end } = await advanceRevision(tx);
      const revision = Math.max(next, told + 1);
      await tx.$executeRaw`UPDATE "service_state" SET "revision" = ${BigInt(revision)} WHERE "id" = 1`;
      // What processes have cached of the memory of controls may be of the other state, too.
      await tx.$executeRaw`UPDATE "memory_clock" SET "epoch" = ${randomUUID()} WHERE "id" = 1`;
      await recordChange(tx, kind, recordedChange(revision, undefined));
      await appendEntry(tx, kind, end, revision, {
        action: 'database.advance_revision',
        resource: 'database',
        id: null,
        before: { revision: next - 1 },
        after: { revision },
        origin,
      });
      return revision;
    };
    return monitor.guardVerified(() => client.prisma.$transaction(work, limits));
  }

  return {
    mutate,
    mutateAside,
    outrun,
    /** Removes old entries of the change log. */
    prune: (revision: number) => client.prisma.$transaction((tx) => pruneChanges(tx, revision), limits),
  };
}

/** Aborts slow work. It continues until its drivers time out, so it is signalled not to commit. */
async function withinLimit<T>(work: (givenUp: AbortSignal) => Promise<T>): Promise<T> {
  const giveUp = new AbortController();
  return timeLimited(work(giveUp.signal), MUTATION_LIMIT_MS, () => {
    const error = unavailable('The database took too long to make the change.');
    giveUp.abort(error);
    throw error;
  });
}

/** Ends a transaction that wrote nothing, so that the advanced revision is not kept. */
class NothingChanged extends Error {}
