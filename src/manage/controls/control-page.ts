import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Page, pageOf } from '../../contract/call/page.js';
import { findPage, loaded, type PageQuery } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { allOf, FALSE } from '../../storage/database/text.js';
import { afterTimed, timedOrder } from '../../storage/database/timed-order.js';
import { agentCounts } from './agent-counts.js';
import { controlConditions } from './control-conditions.js';
import type { ControlFilters } from './control-filters.js';

const MIN_ID = -(2 ** 31);
const MAX_ID = 2 ** 31 - 1;
const ID = Prisma.sql`c."id"`;

const LAST_DENIED = Prisma.sql`t."last_denied_s"`;
const UPDATED = Prisma.sql`c."updated_at_ms"`;
/** The key of the name of a control that is not deleted, which has an index and within a namespace the order of names. */
const NAME = Prisma.sql`c."live_name"`;

/** One page of controls, whose rows `load` reads. */
export async function controlPage<Row extends { readonly id: number }>(
  scope: Scoped,
  filters: ControlFilters,
  load: (ids: number[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  if (filters.orderBy === 'agents') return pageByAgents(scope, filters, load);
  const query = { id: ID, filters: await controlConditions(scope, filters), limit: filters.limit };
  return findPage(scope.client, { ...query, ...(await sorted(scope, filters)) }, load);
}

/** The order of a page. Controls that are equal in it are newest first; an unknown cursor begins at the first page. */
async function sorted(
  { client, namespace }: Scoped,
  { orderBy, reverse, cursor }: ControlFilters,
): Promise<Pick<PageQuery, 'from' | 'orderBy' | 'after'>> {
  const from = Prisma.sql`"controls" c`;
  if (orderBy === 'newest') {
    return { from, orderBy: reverse ? ID : Prisma.sql`${ID} DESC`, after: afterId(cursor, reverse) };
  }
  // Also of a control that was deleted meanwhile.
  const where = { id: cursor ?? 0, namespace: namespace.name };
  const last = cursor !== null && isRowId(cursor) ? await client.control.findUnique({ where }) : null;
  const isAfter = Prisma.sql`${ID} < ${cursor}`;
  if (orderBy === 'last_denied') {
    const found =
      last === null ? undefined : await client.controlActivity.findUnique({ where: { controlId: last.id } });
    const deniedS = found === undefined ? undefined : (found?.lastDeniedS ?? null);
    return {
      from: Prisma.sql`${from} LEFT JOIN "control_activity" t ON t."control_id" = ${ID}`,
      orderBy: Prisma.sql`${timedOrder(LAST_DENIED, reverse)}, ${ID} DESC`,
      after: deniedS === undefined ? null : afterTimed(LAST_DENIED, deniedS, isAfter, reverse),
    };
  }
  const direction = Prisma.raw(reverse ? 'ASC' : 'DESC');
  if (orderBy === 'updated') {
    const beyond = Prisma.raw(reverse ? '>' : '<');
    const time = last?.updatedAtMs;
    return {
      from,
      orderBy: Prisma.sql`${UPDATED} ${direction}, ${ID} DESC`,
      after:
        last === null
          ? null
          : Prisma.sql`(${UPDATED} ${beyond} ${time} OR (${UPDATED} = ${time} AND ${isAfter}))`,
    };
  }
  const beyond = Prisma.raw(reverse ? '<' : '>');
  return {
    from,
    orderBy: reverse ? Prisma.sql`${NAME} DESC` : NAME,
    after: last === null ? null : Prisma.sql`${NAME} ${beyond} ${namespace.keyOf(last.name)}`,
  };
}

/** The same in the order of the numbers of agents, which no statement has in a bearable time. */
async function pageByAgents<Row extends { readonly id: number }>(
  scope: Scoped,
  filters: ControlFilters,
  load: (ids: number[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  const { cursor, limit, reverse } = filters;
  const counts = await agentCounts(scope);
  const where = allOf(await controlConditions(scope, filters));
  const found = await scope.client.$queryRaw<
    { id: number }[]
  >`SELECT ${ID} AS "id" FROM "controls" c WHERE ${where}`;
  const of = (id: number): number => counts.get(id) ?? 0;
  const compare = (a: number, b: number) => (reverse ? of(a) - of(b) : of(b) - of(a)) || b - a;
  const ids = found.map(({ id }) => Number(id)).sort(compare);
  const rest = cursor === null ? ids : ids.filter((id) => compare(cursor, id) < 0);
  return loaded(pageOf(rest, limit, ids.length), load);
}

/** Beyond the range of ids the comparison would fail, and its result is known anyway. */
function afterId(cursor: number | null, reverse: boolean): Prisma.Sql | null {
  if (cursor === null || (reverse ? cursor < MIN_ID : cursor > MAX_ID)) return null;
  if (reverse ? cursor > MAX_ID : cursor < MIN_ID) return FALSE;
  return reverse ? Prisma.sql`${ID} > ${cursor}` : Prisma.sql`${ID} < ${cursor}`;
}
