import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DbClient } from './client.js';
import { allOf } from './text.js';

/** One page of a list. */
export interface Page<Row> {
  readonly rows: Row[];
  /** Number of rows that pass the filters, on all pages. */
  readonly total: number;
  readonly hasMore: boolean;
}

/** Query of a page. */
export interface PageQuery {
  /** The table with its alias. */
  readonly from: Prisma.Sql;
  readonly id: Prisma.Sql;
  readonly filters: readonly Prisma.Sql[];
  /** Rows after the cursor; null for the first page. */
  readonly after: Prisma.Sql | null;
  readonly orderBy: Prisma.Sql;
  readonly limit: number;
}

/** Finds the ids of a page and loads its rows with `load`, in two queries besides that of `load`. */
export async function findPage<Row extends { readonly id: number }>(
  client: DbClient,
  { from, id, filters, after, orderBy, limit }: PageQuery,
  load: (ids: number[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  const counted = await client.$queryRaw<{ total: bigint }[]>(
    Prisma.sql`SELECT COUNT(*) AS "total" FROM ${from} WHERE ${allOf(filters)}`,
  );
  const shown = after === null ? filters : [...filters, after];
  const found = await client.$queryRaw<{ id: number }[]>(
    Prisma.sql`SELECT ${id} AS "id" FROM ${from} WHERE ${allOf(shown)} ORDER BY ${orderBy} LIMIT ${limit + 1}`,
  );
  const ids = found.slice(0, limit).map((row) => Number(row.id));
  return {
    rows: await loadInOrder(ids, load),
    total: Number(counted[0]?.total ?? 0),
    hasMore: found.length > limit,
  };
}

/** The rows of ids, in their order. */
export async function loadInOrder<Row extends { readonly id: number }>(
  ids: number[],
  load: (ids: number[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = new Map((ids.length === 0 ? [] : await load(ids)).map((row) => [row.id, row]));
  // A row may have been deleted since its id was found.
  return ids.flatMap((each) => rows.get(each) ?? []);
}
