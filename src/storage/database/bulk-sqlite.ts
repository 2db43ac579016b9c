import { setTimeout as sleep } from 'node:timers/promises';
import type { Prisma } from '../../../gen/prisma/sqlite/client.js';
import {
  type BulkDatabase,
  type BulkLane,
  type BulkReader,
  type BulkTransaction,
  failingForGood,
} from './bulk.js';
import { OutcomeUnknownError, withServiceErrors } from './errors.js';
import { createMutex, type Mutex } from './mutex.js';
import { BULK_READER_PRAGMAS, BULK_SCAN_PRAGMAS, BULK_WRITER_PRAGMAS } from './sqlite-connection.js';
import { createSqliteThread, type SqliteThread } from './sqlite-thread.js';
import type { Statement, Value } from './sqlite-worker.js';
import type { OpenedFiles } from './storage-health/file-check.js';

/** How long a thread waits for the write lock while another process holds it. No other work waits for it. */
const BUSY_TIMEOUT_MS = 5_000;

/** Attempts to copy the whole log while readers use parts of the file. */
const COPY_ATTEMPTS = 20;
const COPY_PAUSE_MS = 50;

/** How long the thread with a consistent view waits for its next use before it ends: a process uses it seldom. */
const SCANNER_IDLE_MS = 5_000;

/** Bulk statements of SQLite. */
export interface SqliteBulk extends BulkDatabase {
  /** Starts the threads that a service needs at once, while it goes on with its start. */
  warm(): void;
  /** Copies the write-ahead log into the database. False when readers always prevented a complete copy. */
  copyLog(): Promise<boolean>;
}

export interface SqliteBulkOptions {
  readonly path: string;
  /** Held for every write to the file in this process: without it, busy writers would starve others. */
  readonly writing: Mutex;
  /** The files that may be opened, checked around each transaction. */
  readonly files: OpenedFiles;
  /** Whether its writes are awaited by callers: by default they are less urgent than the work of the main thread. */
  readonly isUrgent?: boolean;
  /** Called when a thread ended unexpectedly. */
  readonly onWorkerEnd: (error: Error) => void;
}

/**
 * Statements over many rows in four threads: one for writes, one for short queries, one for long ones, and
 * one for those that need a consistent view.
 */
export function createSqliteBulk(options: SqliteBulkOptions): SqliteBulk {
  const { path, writing, files, isUrgent = false, onWorkerEnd } = options;
  const thread = (pragmas: readonly string[], isBackground = false) =>
    createSqliteThread({ path, busyTimeoutMs: BUSY_TIMEOUT_MS, pragmas, files, isBackground }, onWorkerEnd);
  const writer = thread(BULK_WRITER_PRAGMAS, !isUrgent);
  const readers: Record<BulkLane, SqliteThread> = {
    statistics: thread(BULK_READER_PRAGMAS),
    search: thread(BULK_READER_PRAGMAS),
  };
  const scanner = thread(BULK_SCAN_PRAGMAS);
  const scanning = createMutex();
  let idle: NodeJS.Timeout | undefined;

  return {
    read: (lane, query) =>
      withServiceErrors(async () => {
        const request = { transaction: '', statements: [statementOf(query)], end: '' } as const;
        // A lost query has had no effect; a new thread can answer it.
        const [result] = await readers[lane].run(request).catch((error: unknown) => {
          if (error instanceof OutcomeUnknownError) return readers[lane].run(request);
          throw error;
        });
        return result?.rows ?? [];
      }),
    readAtOnce: (work) =>
      withServiceErrors(async () => {
        const release = await scanning.acquire();
        clearTimeout(idle);
        try {
          return await readAtOnce(scanner, work);
        } finally {
          idle = setTimeout(() => scanner.rest(), SCANNER_IDLE_MS).unref();
          release();
        }
      }),
    transaction: (work) =>
      withServiceErrors(async () => {
        const release = await writing.acquire();
        try {
          return await inTransaction(writer, work);
        } finally {
          release();
        }
      }),
    guarded: (guard, statements) =>
      withServiceErrors(async () => {
        const release = await writing.acquire();
        try {
          const all = [guard, ...statements].map(statementOf);
          const request = { transaction: 'BEGIN', statements: all, end: 'COMMIT', isGuarded: true } as const;
          const results = await writer.run(request);
          return results.length < all.length || results[0]?.rows.length === 0 ? null : results;
        } finally {
          release();
        }
      }),
    copyLog: () => withServiceErrors(() => copyLog(writer)),
    warm() {
      writer.warm();
      readers.search.warm();
    },
    async close() {
      clearTimeout(idle);
      const release = await writing.acquire();
      await Promise.all([
        writer.close(),
        readers.statistics.close(),
        readers.search.close(),
        scanner.close(),
      ]);
      release();
    },
  };
}

async function copyLog(writer: SqliteThread): Promise<boolean> {
  const checkpoint = { sql: 'PRAGMA wal_checkpoint(PASSIVE)', args: [] };
  for (let attempt = 1; attempt <= COPY_ATTEMPTS; attempt += 1) {
    const [result] = await writer.run({ transaction: '', statements: [checkpoint], end: '' });
    const [isBusy, frames, copied] = result?.rows[0] ?? [];
    if (isBusy === 0n && frames === copied) return true;
    await sleep(COPY_PAUSE_MS);
  }
  return false;
}

/** A deferred transaction: its first query fixes the view of all of them, and no writer waits for it. */
async function readAtOnce<T>(thread: SqliteThread, work: (read: BulkReader) => Promise<T>): Promise<T> {
  await thread.run({ transaction: '', statements: [{ sql: 'BEGIN', args: [] }], end: '' });
  try {
    return await work(async (query) => {
      const [result] = await thread.run({
        transaction: 'OPEN',
        statements: [statementOf(query)],
        end: '',
      });
      return result?.rows ?? [];
    });
  } finally {
    // A failed query, or the end of the thread, has already ended the transaction.
    await thread.run({ transaction: 'OPEN', statements: [], end: 'ROLLBACK' }).catch(() => {});
  }
}

async function inTransaction<T>(writer: SqliteThread, work: (tx: BulkTransaction) => Promise<T>): Promise<T> {
  let begun = false;
  const end = (how: 'COMMIT' | 'ROLLBACK') => writer.run({ transaction: 'OPEN', statements: [], end: how });
  let result: T;
  try {
    const { tx, check } = failingForGood(async (statements) => {
      const transaction = begun ? 'OPEN' : 'BEGIN';
      begun = true;
      return writer.run({ transaction, statements: statements.map(statementOf), end: '' });
    });
    result = await work(tx);
    check();
  } catch (error) {
    // A failed statement, or the end of the thread, has already undone everything.
    if (begun) await end('ROLLBACK').catch(() => {});
    throw error;
  }
  if (begun) await end('COMMIT');
  return result;
}

function statementOf({ sql, values }: Prisma.Sql): Statement {
  return { sql, args: values.map(toSqliteValue) };
}

function toSqliteValue(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  // The driver would bind every number as a real.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  throw new TypeError(`an argument of type ${typeof value} cannot be bound`);
}
