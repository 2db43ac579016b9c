import type pg from 'pg';
import type { Prisma } from '../../../gen/prisma/sqlite/client.js';
import {
  type BulkDatabase,
  type BulkReader,
  type BulkResult,
  type BulkTransaction,
  type BulkValue,
  failingForGood,
} from './bulk.js';
import { OutcomeUnknownError, withServiceErrors } from './errors.js';

/** Statements over many rows on connections of a separate pool. */
export function createPostgresBulk(pool: pg.Pool): BulkDatabase {
  return {
    read: (_lane, query) =>
      withServiceErrors(async () => {
        const { rows } = await pool.query<BulkValue[]>(queryOf(query));
        return rows;
      }),
    readAtOnce: (work) => withServiceErrors(() => readAtOnce(pool, work)),
    transaction: (work) => withServiceErrors(() => inTransaction(pool, work)),
    guarded: (guard, statements) =>
      withServiceErrors(() =>
        inTransaction(pool, async (tx) => {
          const [first] = await tx.run(guard);
          if (first === undefined || first.rows.length === 0) return null;
          return [first, ...(await tx.run(...statements))];
        }),
      ),
    close: () => pool.end(),
  };
}

async function readAtOnce<T>(pool: pg.Pool, work: (read: BulkReader) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const result = await work(async (query) => {
      const { rows } = await client.query<BulkValue[]>(queryOf(query));
      return rows;
    });
    await client.query('COMMIT');
    broken = false;
    return result;
  } finally {
    // A connection whose transaction may still be open is not reused.
    client.release(broken);
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (tx: BulkTransaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    let result: T;
    try {
      const { tx, check } = failingForGood(async (statements) => {
        const results: BulkResult[] = [];
        for (const statement of statements) {
          const { rows, rowCount } = await client.query(queryOf(statement));
          results.push({ rows, changes: rowCount ?? 0 });
        }
        return results;
      });
      result = await work(tx);
      check();
    } catch (error) {
      await client.query('ROLLBACK');
      broken = false;
      throw error;
    }
    await commit(client);
    broken = false;
    return result;
  } finally {
    // A connection in an unknown state is not reused.
    client.release(broken);
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    // Without an answer of the server the commit may have happened.
    throw new OutcomeUnknownError('The connection to the database broke during a commit.', error);
  }
}

/** No named statement: poolers before the server may assign each transaction to another connection. */
function queryOf({ text, values }: Prisma.Sql): pg.QueryArrayConfig<unknown[]> {
  return { text, values, rowMode: 'array' };
}
