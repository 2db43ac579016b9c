import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DbClient } from './client.js';
import { inPortions } from './in-portions.js';

/** A value of a row; numbers for 32 bits. */
export type ColumnValue = string | number | bigint | boolean | null;

/** Columns by their names in the database. */
export type ColumnTypes = Readonly<Record<string, 'TEXT' | 'INTEGER' | 'BIGINT' | 'BOOLEAN'>>;

/** A row with a value for each column. */
export type RowOf<Types extends ColumnTypes> = Readonly<Record<keyof Types, ColumnValue>>;

/**
 * Rows as a table, in one argument: the statement is the same for any number of them, and binding thousands of arguments takes
 * longer than what the databases do with them. They are the members of an object, for which both databases have `json_each`.
 */
export function tableOf<Types extends ColumnTypes>(types: Types, rows: readonly RowOf<Types>[]): Prisma.Sql {
  const names = Object.keys(types);
  const items = rows.map((row) => names.map((name) => jsonValue(row[name] ?? null)));
  const columns = names.map((name, at) => `CAST("item" ->> ${at} AS ${types[name]}) AS "${name}"`);
  // Materialised, or SQLite would print and parse each row again for every member read from it.
  return Prisma.sql`(
    WITH "each" AS MATERIALIZED (SELECT "value" AS "item" FROM json_each(${JSON.stringify({ ...items })}))
    SELECT ${Prisma.raw(columns.join(', '))} FROM "each")`;
}

/** The names of columns for a statement, with an alias of their table if one is given. */
export function columnsOf(types: ColumnTypes, alias?: string): Prisma.Sql {
  const prefix = alias === undefined ? '' : `"${alias}".`;
  return Prisma.raw(
    Object.keys(types)
      .map((name) => `${prefix}"${name}"`)
      .join(', '),
  );
}

/**
 * Inserts rows into a table with few statements, for thousands of rows in the transaction of a mutation. With `ending`, such as
 * what is returned, returns the rows of that. Without a row, there is no statement.
 */
export function insertRows<Types extends ColumnTypes, Returned = never>(
  client: DbClient,
  table: string,
  types: Types,
  rows: readonly RowOf<Types>[],
  ending: Prisma.Sql = Prisma.empty,
): Promise<Returned[]> {
  const into = Prisma.raw(`INSERT INTO "${table}"`);
  const columns = columnsOf(types);
  return inPortions(
    rows,
    (portion) => client.$queryRaw<Returned[]>`
      ${into} (${columns}) SELECT ${columns} FROM ${tableOf(types, portion)} AS w WHERE 1 = 1 ${ending}`,
  );
}

function jsonValue(value: ColumnValue): Exclude<ColumnValue, bigint> {
  return typeof value === 'bigint' ? value.toString() : value;
}
