import type { Prisma } from '../../../gen/prisma/sqlite/client.js';

/** A value of a row or of an argument. Integers are returned as bigint, number or text: convert them. */
export type BulkValue = null | string | number | bigint | boolean;
export type BulkRow = readonly BulkValue[];

/** Result of a statement: rows of one that returns data, and the number of rows that one changed. */
export interface BulkResult {
  readonly rows: readonly BulkRow[];
  readonly changes: number;
}

/** Queue of a query: short ones must not wait behind long ones. */
export type BulkLane = 'statistics' | 'search';

/** Runs one query. */
export type BulkReader = (query: Prisma.Sql) => Promise<readonly BulkRow[]>;

/** An open write transaction. */
export interface BulkTransaction {
  /** Runs statements in order, in one batch, and returns the result of each. */
  run(...statements: Prisma.Sql[]): Promise<BulkResult[]>;
}

/**
 * Statements over many rows, bypassing Prisma and, on SQLite, in separate threads, so that they neither load
 * nor block the thread that serves requests. They must be valid for both databases. Every method rejects with
 * a `ServiceError` and nothing else.
 */
export interface BulkDatabase {
  /** Runs one query. It sees committed data only, in a consistent view. */
  read(lane: BulkLane, query: Prisma.Sql): Promise<readonly BulkRow[]>;
  /**
   * Runs `work` with a function for queries that all share one consistent view of the database, however long
   * `work` takes. Calls are serialised. It does not block writers.
   */
  readAtOnce<T>(work: (read: BulkReader) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one write transaction. When it throws, nothing is kept. Rejects with an
   * `OutcomeUnknownError` when it is unknown whether the transaction was committed. `work` must await nothing
   * but its statements: on SQLite it blocks all other writers.
   */
  transaction<T>(work: (tx: BulkTransaction) => Promise<T>): Promise<T>;
  /**
   * Runs statements in one write transaction, after a query that guards them: if that returns no row, nothing is written, and the
   * answer is null. Otherwise returns the result of each, that of the query first. On SQLite it is one call of the thread.
   */
  guarded(guard: Prisma.Sql, statements: readonly Prisma.Sql[]): Promise<BulkResult[] | null>;
  /** Releases connections and threads. Later calls fail with `SERVICE_UNAVAILABLE`. */
  close(): Promise<void>;
}

/**
 * A transaction that fails as a whole once one of its statements has failed, even if the caller caught the
 * error and continued; `check` throws then. PostgreSQL alone would answer its COMMIT with a rollback, without
 * an error.
 */
export function failingForGood(run: (statements: readonly Prisma.Sql[]) => Promise<BulkResult[]>): {
  readonly tx: BulkTransaction;
  readonly check: () => void;
} {
  let failure: { readonly error: unknown } | undefined;
  const check = () => {
    if (failure !== undefined) throw failure.error;
  };
  return {
    check,
    tx: {
      async run(...statements) {
        check();
        try {
          return await run(statements);
        } catch (error) {
          failure ??= { error };
          throw error;
        }
      },
    },
  };
}
