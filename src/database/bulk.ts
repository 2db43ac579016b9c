import type { Prisma } from '../../gen/prisma/sqlite/client.js';

/** A value of a row or of an argument. Integers can come back as bigint, number or text: convert what is read. */
export type BulkValue = null | string | number | bigint | boolean;
export type BulkRow = readonly BulkValue[];

/** What a statement gave: rows of one that returns data, and the number of rows that one changed. */
export interface BulkResult {
  readonly rows: readonly BulkRow[];
  readonly changes: number;
}

/** Which queue a query stands in: short ones must not wait behind long ones. */
export type BulkLane = 'statistics' | 'search';

/** Runs one query. */
export type BulkReader = (query: Prisma.Sql) => Promise<readonly BulkRow[]>;

/** An open write transaction. */
export interface BulkTransaction {
  /** Runs statements in order, in one go, and returns the result of each. */
  run(...statements: Prisma.Sql[]): Promise<BulkResult[]>;
}

/**
 * Statements over many rows, past Prisma and, on SQLite, in threads of their own, so that they neither cost nor stall
 * the thread that serves requests. They must be written so that both databases take them. Every method rejects with a
 * `ServiceError` and nothing else.
 */
export interface BulkDatabase {
  /** Runs one query. It sees committed data only, all of one moment. */
  read(lane: BulkLane, query: Prisma.Sql): Promise<readonly BulkRow[]>;
  /**
   * Runs `work` with a function for queries that all see the database as it is at one moment, however long `work`
   * takes. Calls wait for each other. It keeps no writer waiting.
   */
  readAtOnce<T>(work: (read: BulkReader) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one write transaction. When it throws, nothing is kept. Rejects with an `OutcomeUnknownError` when
   * nobody can say whether the transaction was committed. `work` must await nothing but its own statements: on SQLite
   * it keeps all other writers waiting.
   */
  transaction<T>(work: (tx: BulkTransaction) => Promise<T>): Promise<T>;
  /** Lets go of connections and threads. Everything after it is `SERVICE_UNAVAILABLE`. */
  close(): Promise<void>;
}

/**
 * A transaction that fails as a whole once one of its statements has failed, even when its owner caught the error and
 * went on; `check` throws then. Left alone, PostgreSQL would answer its COMMIT with a rollback, without an error.
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
