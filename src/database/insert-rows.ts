import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from './client.js';
import { inPortions } from './in-portions.js';

/** A value of a row; numbers for 32 bits. */
export type ColumnValue = string | number | bigint | boolean | null;

/** Rows by the names of their columns in the database; all have the same columns. */
export type ColumnValues = Readonly<Record<string, ColumnValue>>;

/**
 * Inserts rows into a table with few statements. For thousands of rows in the transaction of a mutation: Prisma needs a
 * millisecond for each of them.
 */
export async function insertRows(
  client: DbClient,
  table: string,
  rows: readonly ColumnValues[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const names = columns.map((name) => `"${name}"`).join(', ');
  await inPortions(rows, async (portion) => {
    const values = portion.flatMap((row) => columns.map((name) => row[name] ?? null));
    const texts = values.map((_, at) => {
      if (at === 0) return `INSERT INTO "${table}" (${names}) VALUES (`;
      return at % columns.length === 0 ? '), (' : ', ';
    });
    await client.$executeRaw(new Prisma.Sql([...texts, ')'], values));
    return [];
  });
}
