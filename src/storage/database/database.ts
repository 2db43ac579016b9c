import { randomUUID } from 'node:crypto';
import { timeLimited } from '../../contract/call/time-limited.js';
import { type AuditOrigin, type AuditRecord, appendEntry } from './audit-log.js';
import type { BulkDatabase } from './bulk.js';
import { type Change, PRUNING_INTERVAL, pruneChanges, recordChange, recordedChange } from './change-log.js';
import type { ChangeSource } from './change-source.js';
import type { DbClient } from './client.js';
import type { DatabaseLocation } from './database-url.js';
import { unavailable, withServiceErrors } from './errors.js';
import { createMutex, type Mutex } from './mutex.js';
import { type DatabaseOptions, type OpenedStorage, openStorage } from './open-storage.js';
import { advanceRevision, lockRevision } from './revision-lock.js';
import type { StorageHealth } from './storage-health/storage-state.js';

export type { DbClient } from './client.js';
export type { DatabaseOptions } from './open-storage.js';

/** Most waiting mutations in this process; each is an open request, so more would only time out. */
export const MAX_WAITING_MUTATIONS = 1_000;
/** How long a mutation waits for its turn. */
export const MUTATION_WAIT_LIMIT_MS = 5_000;
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

/** The database of the service. Every method rejects with a `ServiceError` and nothing else. */
export interface Database {
  readonly kind: DatabaseLocation['kind'];
  /** A random UUID assigned to the database at creation, and kept when it is moved, copied or restored. */
  readonly instanceId: string;
  /** Whether this opening created the structure: the database was empty. */
  readonly created: boolean;
  /** Whether writes are kept. It probes on its own once `watch` was called. */
  readonly storage: StorageHealth;
  /** For reading outside a mutation. It sees committed data only, even while a mutation is open. */
  readonly client: DbClient;
  /**
   * The only way to write data that verdicts depend on. Runs `work` in one transaction that first advances
   * the revision, which locks out every other mutation of every process; within this process they run in call
   * order. When `work` reports no change or throws, nothing is kept, neither writes nor the new revision.
   * `work` must not start another mutation. After `SERVICE_UNAVAILABLE` the outcome of a transaction may be
   * unknown: the connection can break while it ends.
   */
  mutate<T>(work: (tx: DbClient) => Promise<Mutation<T>>): Promise<MutationResult<T>>;
  /**
   * Runs `work` in one transaction that locks out mutations and makes no revision: for what no program depends on.
   * Nothing is kept when it throws, nor without an audit record. `entryNo` is the position that the entry of the audit log will
   * have: later transactions get greater ones.
   */
  mutateAside<T>(work: (tx: DbClient, entryNo: number) => Promise<AsideResult<T>>): Promise<T>;
  /** For statements over many rows that no verdict depends on, such as those about events. */
  readonly bulk: Pick<BulkDatabase, 'read' | 'transaction'>;
  /**
   * Opens connections and threads for short work that must not wait behind that of others. They connect with their first call. The
   * caller closes them, and the database those that are open when it is closed.
   */
  openBulk(): BulkDatabase;
  /** For reading many rows in one consistent view. */
  readonly readAtOnce: BulkDatabase['readAtOnce'];
  /** The number of mutations so far. */
  revision(): Promise<number>;
  /**
   * Makes the revision greater than one that callers may have received before the database was restored to an
   * earlier state, so that no revision ever denotes two states. Every process reloads everything. Returns the
   * revision; does nothing when it is already greater. `origin` is for the audit log.
   */
  outrun(revision: number, origin: AuditOrigin): Promise<number>;
  /** Opens a source of changes made by other processes. The caller has to close it. */
  changes(): ChangeSource;
  /** True when the database answers. Never rejects. */
  ping(): Promise<boolean>;
  /** Waits for running mutations and closes all connections. Later calls fail with `SERVICE_UNAVAILABLE`. */
  close(): Promise<void>;
}

/** Opens the database and migrates its structure. Rejects when it cannot be reached or must not be used. */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return withServiceErrors(async () => createDatabase(await openStorage(options), options));
}

function createDatabase(
  opened: OpenedStorage,
  { logger, beforeCommit, onAudit }: Pick<DatabaseOptions, 'logger' | 'beforeCommit' | 'onAudit'>,
): Database {
  const { kind, monitor, instanceId, created } = opened;
  const { prisma, bulk } = opened.client;
  const queueLimits = { maxWaiting: MAX_WAITING_MUTATIONS, waitLimitMs: MUTATION_WAIT_LIMIT_MS };
  const turns = createMutex(queueLimits);
  /** Separate from mutations: one of those may wait long for another process. */
  const writeTurns = createMutex(queueLimits);
  const limits = { maxWait: TRANSACTION_START_LIMIT_MS, timeout: TRANSACTION_LIMIT_MS };
  const owned = new Set<BulkDatabase>();
  let closing: Promise<void> | undefined;

  async function runTransaction<T>(
    work: (tx: DbClient) => Promise<Mutation<T>>,
    givenUp: AbortSignal,
  ): Promise<MutationResult<T>> {
    let unchanged: MutationResult<T> | undefined;
    try {
      return await prisma.$transaction(async (tx) => {
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

  async function mutate<T>(work: (tx: DbClient) => Promise<Mutation<T>>): Promise<MutationResult<T>> {
    const result = await inTurn(turns, () =>
      monitor.guardVerified(
        () => withinLimit((givenUp) => runTransaction(work, givenUp)),
        ({ changed }) => changed,
      ),
    );
    if (result.changed && result.revision % PRUNING_INTERVAL === 0) prune(result.revision);
    return result;
  }

  /** Skipped revisions have no log, so processes that follow it know that anything may have changed. */
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
    return inTurn(turns, () => monitor.guardVerified(() => prisma.$transaction(work, limits)));
  }

  function mutateAside<T>(work: (tx: DbClient, entryNo: number) => Promise<AsideResult<T>>): Promise<T> {
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
    return inTurn(turns, async () => {
      try {
        return await monitor.guardVerified(() => prisma.$transaction(run, limits));
      } catch (error) {
        if (error instanceof NothingChanged && unchanged !== undefined) return unchanged.value;
        throw error;
      }
    });
  }

  /** In the background: no caller needs it, and the next run completes what this one could not. */
  function prune(revision: number): void {
    inTurn(writeTurns, () => prisma.$transaction((tx) => pruneChanges(tx, revision), limits)).catch(
      (error: unknown) => logger?.warn({ err: error }, 'The log of changes could not be pruned'),
    );
  }

  function inTurn<T>(queue: Mutex, work: () => Promise<T>): Promise<T> {
    return withServiceErrors(async () => {
      if (closing !== undefined) throw unavailable('The service is shutting down.');
      const release = await queue.acquire();
      try {
        return await work();
      } finally {
        release();
      }
    });
  }

  function noticed(error: unknown): never {
    monitor.failed(error);
    throw error;
  }

  function openBulk(): BulkDatabase {
    const own = opened.client.openBulk();
    owned.add(own);
    return {
      read: (lane, query) => own.read(lane, query).catch(noticed),
      readAtOnce: (work) => own.readAtOnce(work).catch(noticed),
      transaction: (work) => withServiceErrors(() => monitor.guard(() => own.transaction(work))),
      guarded: (guard, statements) =>
        withServiceErrors(() => monitor.guard(() => own.guarded(guard, statements))),
      async close() {
        if (owned.delete(own)) await own.close();
      },
    };
  }

  async function shutDown(): Promise<void> {
    const releases = await Promise.all([turns.acquire(), writeTurns.acquire()]);
    try {
      await monitor.close();
      const closed = [...owned].map((own) => own.close());
      owned.clear();
      await Promise.all(closed);
      await opened.close();
    } finally {
      for (const release of releases) release();
    }
  }

  return {
    kind,
    instanceId,
    created,
    storage: monitor,
    client: prisma,
    mutate,
    mutateAside,
    bulk: {
      read: (lane, query) => bulk.read(lane, query).catch(noticed),
      transaction: (work) => withServiceErrors(() => monitor.guard(() => bulk.transaction(work))),
    },
    openBulk,
    readAtOnce: (work) => bulk.readAtOnce(work).catch(noticed),
    revision: () =>
      withServiceErrors(async () => {
        const { revision } = await prisma.serviceState.findUniqueOrThrow({ where: { id: 1 } });
        return Number(revision);
      }),
    outrun: async (told, origin) => {
      const { revision } = await withServiceErrors(() =>
        prisma.serviceState.findUniqueOrThrow({ where: { id: 1 } }),
      );
      return Number(revision) > told ? Number(revision) : outrun(told, origin);
    },
    changes: opened.openChanges,
    ping: () =>
      prisma.$queryRaw`SELECT 1`.then(
        () => true,
        () => false,
      ),
    close: () => {
      closing ??= withServiceErrors(shutDown);
      return closing;
    },
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
