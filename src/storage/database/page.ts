import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Page, type PageAsked, pageOf } from '../../contract/call/page.js';
import type { DbClient } from './client.js';
import { allOf } from './text.js';

export type { Page, PageAsked } from '../../contract/call/page.js';

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

/** The part of a query by which pages go on with smaller numbers, which `id` has, the greatest first. */
export function newestFirst(
  id: Prisma.Sql,
  { cursor, limit }: PageAsked<number>,
): Pick<PageQuery, 'id' | 'after' | 'orderBy' | 'limit'> {
  const after = cursor === null ? null : Prisma.sql`${id} < ${cursor}`;
  return { id, after, orderBy: Prisma.sql`${id} DESC`, limit };
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
  const ids = found.map((row) => Number(row.id));
  return loaded(pageOf(ids, limit, Number(counted[0]?.total ?? 0)), load);
}

/** The page of the rows with the ids of a page. */
export async function loaded<Row extends { readonly id: number }>(
  ids: Page<number>,
  load: (ids: number[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  return { ...ids, rows: await loadInOrder([...ids.rows], load) };
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
