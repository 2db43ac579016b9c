import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import type { OpenedFiles } from './storage-health/file-check.js';
import { demandUnmoved } from './storage-health/open-files.js';

/** The longest wait inside SQLite. It blocks the process: only for rare, short ones (recovery, closing). */
const BUSY_TIMEOUT_MS = 1_000;
/** The longest pause between two attempts to acquire the write lock. */
const MAX_PAUSE_MS = 25;

/**
 * Pages of the write-ahead log (4 KiB each) after which the bulk writer copies them into the file: 250 MiB
 * instead of SQLite's 4. Two thousand events change some six thousand pages of indexes over random ids, and
 * later ones change many of them again; copying after each transaction took a third of its time.
 */
const BULK_CHECKPOINT_PAGES = 64_000;
/** The serving thread copies only when the bulk writer did not: copying is slow and blocks the rest. */
const SERVING_CHECKPOINT_PAGES = 2 * BULK_CHECKPOINT_PAGES;
/** Size to which the write-ahead log is cut after it was copied, in bytes: without a limit it keeps its largest size. */
const LOG_SIZE_LIMIT = `journal_size_limit = ${64 * 1024 * 1024}`;
/** Page cache of a bulk connection, in KiB. Indexes over random ids are read in random order. */
const BULK_CACHE_KIB = 64 * 1024;

const DURABLE = 'synchronous = FULL';

/** Settings of the connection that writes events. */
export const BULK_WRITER_PRAGMAS = [
  DURABLE,
  LOG_SIZE_LIMIT,
  `wal_autocheckpoint = ${BULK_CHECKPOINT_PAGES}`,
  `cache_size = -${BULK_CACHE_KIB}`,
];
/** Settings of a connection that only reads. */
export const BULK_READER_PRAGMAS = ['query_only = ON', `cache_size = -${BULK_CACHE_KIB}`];
/** Settings of a connection that reads everything once: a large cache would hold pages without reuse. */
export const BULK_SCAN_PRAGMAS = ['query_only = ON'];

/** A value of SQLite. Integers are always bigints, so that none is rounded or stored as a real. */
export type SqliteValue = null | string | number | bigint | Uint8Array;

/** Rows of a statement that returns data, or the number of rows it changed. */
export interface SqliteResult {
  readonly columns: readonly { readonly name: string; readonly declaredType: string | null }[];
  readonly rows: SqliteValue[][];
  readonly changes: number;
}

/** A prepared statement. */
export type SqliteStatement = (args?: readonly SqliteValue[]) => SqliteResult;

/** One connection to a SQLite file. Calls are synchronous. */
export interface SqliteConnection {
  readonly inTransaction: boolean;
  execute(sql: string, args?: readonly SqliteValue[]): SqliteResult;
  /** Prepares a frequent statement. It keeps the file open until it is garbage-collected. */
  prepare(sql: string): SqliteStatement;
  /** Runs a script of several statements. */
  executeScript(script: string): void;
  /** Closes the connection; rolls back an open transaction. */
  close(): void;
}

/** Purpose of a connection; a reading one rejects writes. */
export type SqliteRole = 'reader' | 'writer';

/**
 * Opens a connection with every setting that the service relies on. Settings last for its lifetime. With
 * `files`, throws a `StorageError` when these are not at the path any more.
 */
export function openSqliteConnection(path: string, role: SqliteRole, files?: OpenedFiles): SqliteConnection {
  // Opening would create a missing file.
  if (files !== undefined) demandUnmoved(files);
  const database = new Libsql(path, { timeout: BUSY_TIMEOUT_MS });
  const connection = wrap(database);
  try {
    if (files !== undefined) demandUnmoved(files);
    connection.execute(`PRAGMA ${DURABLE}`);
    connection.execute(`PRAGMA ${LOG_SIZE_LIMIT}`);
    connection.execute(`PRAGMA wal_autocheckpoint = ${SERVING_CHECKPOINT_PAGES}`);
    connection.execute('PRAGMA foreign_keys = ON');
    if (role === 'reader') connection.execute('PRAGMA query_only = ON');
  } catch (error) {
    database.close();
    throw error;
  }
  return connection;
}

/**
 * Copies the write-ahead log into the file and empties it, so that the file alone has everything. What other processes
 * read of it stays, and all of it if the file cannot be written.
 */
export function emptyLog(path: string, files: OpenedFiles): void {
  try {
    const connection = openSqliteConnection(path, 'writer', files);
    try {
      // Copies without a lock on writers, of which nothing is left for the second.
      connection.execute('PRAGMA wal_checkpoint(PASSIVE)');
      connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      connection.close();
    }
  } catch {
    // The log stays, and the next start reads it.
  }
}

function wrap(database: Libsql.Database): SqliteConnection {
  const prepare = (sql: string): SqliteStatement => {
    const statement = database.prepare(sql).safeIntegers(true);
    if (!statement.reader) {
      return (args = []) => ({ columns: [], rows: [], changes: Number(statement.run(args).changes) });
    }
    statement.raw(true);
    return (args = []) => {
      const rows = statement.all(args) as SqliteValue[][];
      const columns = statement.columns().map(({ name, type }) => ({ name, declaredType: type }));
      return { columns, rows, changes: 0 };
    };
  };
  return {
    get inTransaction() {
      return database.inTransaction;
    },
    execute: (sql, args) => prepare(sql)(args),
    prepare,
    executeScript(script) {
      database.exec(script);
    },
    close() {
      if (!database.open) return;
      // The driver keeps a closed connection, with its locks, until its statements are garbage-collected.
      if (database.inTransaction) database.exec('ROLLBACK');
      database.close();
    },
  };
}

/**
 * Starts a transaction that holds the write lock of the file. While another process holds it, retries without
 * blocking the event loop; after `waitLimitMs` it rejects with the driver's busy error.
 */
export async function beginWriting(connection: SqliteConnection, waitLimitMs: number): Promise<void> {
  // The write lock may be held for long; a wait inside SQLite would block everything else.
  connection.execute('PRAGMA busy_timeout = 0');
  try {
    await untilNotBusy(() => connection.executeScript('BEGIN IMMEDIATE'), waitLimitMs);
  } finally {
    connection.execute(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

/** Repeats a synchronous operation while another connection locks the file, for at most `waitLimitMs`. */
export async function untilNotBusy<T>(operation: () => T, waitLimitMs: number): Promise<T> {
  const deadline = Date.now() + waitLimitMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      return operation();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= deadline) throw error;
    }
    // Random, so that processes waiting for the same lock do not synchronise.
    await sleep(pause * (0.5 + Math.random()));
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && /^SQLITE_(?:BUSY|LOCKED)/.test(error.code);
}
