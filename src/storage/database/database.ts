import type { AuditOrigin } from './audit-log.js';
import type { BulkDatabase } from './bulk.js';
import { PRUNING_INTERVAL } from './change-log.js';
import type { ChangeSource } from './change-source.js';
import type { DbClient } from './client.js';
import type { DatabaseLocation } from './database-url.js';
import { unavailable, withServiceErrors } from './errors.js';
import { createMutex, type Mutex } from './mutex.js';
import { type DatabaseOptions, type OpenedStorage, openStorage } from './open-storage.js';
import type { StorageHealth } from './storage-health/storage-state.js';
import { type AsideResult, createTransactions, type Mutation, type MutationResult } from './transactions.js';

export type { DbClient } from './client.js';
export type { DatabaseOptions } from './open-storage.js';
export type { AsideResult, Mutation, MutationResult } from './transactions.js';

/** Most waiting mutations in this process; each is an open request, so more would only time out. */
export const MAX_WAITING_MUTATIONS = 1_000;
/** How long a mutation waits for its turn. */
export const MUTATION_WAIT_LIMIT_MS = 5_000;
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
  options: Pick<DatabaseOptions, 'logger' | 'beforeCommit' | 'onAudit'>,
): Database {
  const { kind, monitor, instanceId, created } = opened;
  const { prisma, bulk } = opened.client;
  const queueLimits = { maxWaiting: MAX_WAITING_MUTATIONS, waitLimitMs: MUTATION_WAIT_LIMIT_MS };
  const turns = createMutex(queueLimits);
  /** Separate from mutations: one of those may wait long for another process. */
  const writeTurns = createMutex(queueLimits);
  const transactions = createTransactions(opened, options);
  const owned = new Set<BulkDatabase>();
  let closing: Promise<void> | undefined;

  async function mutate<T>(work: (tx: DbClient) => Promise<Mutation<T>>): Promise<MutationResult<T>> {
    const result = await inTurn(turns, () => transactions.mutate(work));
    if (result.changed && result.revision % PRUNING_INTERVAL === 0) prune(result.revision);
    return result;
  }

  /** In the background: no caller needs it, and the next run completes what this one could not. */
  function prune(revision: number): void {
    inTurn(writeTurns, () => transactions.prune(revision)).catch((error: unknown) =>
      options.logger?.warn({ err: error }, 'The log of changes could not be pruned'),
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
    mutateAside: (work) => inTurn(turns, () => transactions.mutateAside(work)),
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
      if (Number(revision) > told) return Number(revision);
      return inTurn(turns, () => transactions.outrun(told, origin));
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
