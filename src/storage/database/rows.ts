import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkLane, BulkReader, BulkRow, BulkValue } from './bulk.js';

/** How a column is read. */
export interface Column<T> {
  /** Makes the value of the member from one of the database that is not null. */
  readonly convert: (value: Exclude<BulkValue, null>) => T;
  readonly mayBeNull?: true;
  /** What is selected: by default, the column that has the name of the member in snake case. */
  readonly from?: Prisma.Sql;
}

export const text: Column<string> = { convert: String };
/** Integers up to 2^53, and decimals. */
export const number: Column<number> = { convert: Number };
/** Integers of 64 bits. */
export const bigint: Column<bigint> = { convert: BigInt };
/** A boolean of PostgreSQL; SQLite has 1 and 0. */
export const flag: Column<boolean> = { convert: (value) => Number(value) === 1 };

/** A value in its JSON text. */
export function json<T>(): Column<T> {
  return { convert: (value) => JSON.parse(String(value)) as T };
}

/** A column that may be null. */
export function nullable<T>(column: Column<T>): Column<T | null> {
  return { ...column, mayBeNull: true };
}

/** A column whose values become others. */
export function mapped<T, Other>({ convert, ...column }: Column<T>, map: (value: T) => Other): Column<Other> {
  return { ...column, convert: (value) => map(convert(value)) };
}

/** An expression, or a column with another name than its member. */
export function from<T>(selected: Prisma.Sql, column: Column<T>): Column<T> {
  return { ...column, from: selected };
}

/** Declared columns: what to select, and what reads a row of it. */
export interface Columns<Row> {
  /** For after SELECT. */
  readonly list: Prisma.Sql;
  /** Reads a row that begins with these columns. Throws if one is missing, or is null and may not be. */
  readonly read: (row: BulkRow) => Row;
  /** For the `select` of Prisma, which does without expressions and other names. */
  readonly selected: { readonly [Member in keyof Row]: true };
  /** Reads a row of Prisma. */
  readonly of: (row: { readonly [Member in keyof Row]: BulkValue }) => Row;
}

/** A row as its columns read it. */
export type ReadRow<Of> = Of extends Columns<infer Row> ? Row : never;

/** Declares columns by the members of a row; `alias` is that of their table. */
export function columns<Declared extends Readonly<Record<string, Column<unknown>>>>(
  declared: Declared,
  alias?: string,
): Columns<{ readonly [Member in keyof Declared]: Declared[Member] extends Column<infer T> ? T : never }> {
  const members = Object.entries(declared);
  const prefix = alias === undefined ? '' : `${alias}.`;
  const named = (member: string) => Prisma.raw(`${prefix}"${snakeCase(member)}"`);
  function rowOf(given: (member: string, at: number) => BulkValue | undefined): never {
    const row: Record<string, unknown> = {};
    let at = 0;
    for (const [member, { convert, mayBeNull }] of members) {
      const value = given(member, at);
      if (value === undefined || (value === null && !mayBeNull)) throw new Error(`a row lacks ${member}`);
      row[member] = value === null ? null : convert(value);
      at += 1;
    }
    return row as never;
  }
  return {
    list: Prisma.join(
      members.map(([member, column]) => column.from ?? named(member)),
      ', ',
    ),
    selected: Object.fromEntries(members.map(([member]) => [member, true])) as never,
    read: (row) => rowOf((_, at) => row[at]),
    of: (row) => rowOf((member) => row[member]),
  };
}

/** The name of a column: that of a member in snake case. */
export function snakeCase(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A tag for the rest of a query, from FROM on, that reads its rows of the columns. */
export function select<Row>(
  { list, read }: Columns<Row>,
  source: Pick<BulkDatabase, 'read'> | BulkReader,
  lane: BulkLane = 'search',
): (rest: TemplateStringsArray, ...values: unknown[]) => Promise<Row[]> {
  const ask: BulkReader = typeof source === 'function' ? source : (query) => source.read(lane, query);
  return async (rest, ...values) =>
    (await ask(Prisma.sql`SELECT ${list} ${Prisma.sql(rest, ...values)}`)).map(read);
}

/**
 * Reads rows page by page, each at most `limit` long. `rest` is the query from FROM on, in a fixed order, for what is after the
 * last row of the page before; from the start without it.
 */
export async function* pages<Row>(
  columns: Columns<Row>,
  source: BulkReader,
  limit: number,
  rest: (last: Row | undefined) => Prisma.Sql,
): AsyncGenerator<Row[], void> {
  for (let last: Row | undefined; ; ) {
    const rows = await select(columns, source)`${rest(last)} LIMIT ${limit}`;
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

/** Reads the one number that a query asks for; 0 when there is none. */
export async function readNumber(bulk: Pick<BulkDatabase, 'read'>, query: Prisma.Sql): Promise<number> {
  const [row] = await bulk.read('search', query);
  return Number(row?.[0] ?? 0);
}
