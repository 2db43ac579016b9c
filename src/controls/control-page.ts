import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/database.js';
import type { PageQuery } from '../database/page.js';
import { isRowId } from '../database/row-id.js';
import { FALSE } from '../database/text.js';
import { afterTimed, timedOrder } from '../database/timed-order.js';
import { controlConditions } from './control-conditions.js';
import type { ControlFilters } from './control-filters.js';
import { allPairs, effectivePairs } from './effective-controls.js';

const MIN_ID = -(2 ** 31);
const MAX_ID = 2 ** 31 - 1;
const ID = Prisma.sql`c."id"`;

/** How a list is sorted, and where a page begins. Controls that are equal in the order are newest first. */
interface SortedBy {
  /** The table with the column, joined to controls `c`; nothing for a column of theirs. */
  readonly join: Prisma.Sql;
  readonly column: Prisma.Sql;
  /** The value of the last control already listed; undefined if it is not there any more. */
  value(client: DbClient, id: number): Promise<bigint | null | undefined>;
}

const ORDERS: Record<'updated' | 'last_denied' | 'agents', SortedBy> = {
  updated: {
    join: Prisma.empty,
    column: Prisma.sql`c."updated_at_ms"`,
    async value(client, id) {
      const found = await client.control.findUnique({ where: { id }, select: { updatedAtMs: true } });
      return found?.updatedAtMs;
    },
  },
  last_denied: {
    join: Prisma.sql`LEFT JOIN "control_activity" t ON t."control_id" = c."id"`,
    column: Prisma.sql`t."last_denied_s"`,
    async value(client, id) {
      const found = await client.controlActivity.findUnique({ where: { controlId: id } });
      return found?.lastDeniedS ?? null;
    },
  },
  agents: {
    join: Prisma.sql`LEFT JOIN (
      SELECT e."control_id", COUNT(*) AS "agents" FROM (${allPairs()}) e GROUP BY e."control_id") t
      ON t."control_id" = c."id"`,
    column: Prisma.sql`COALESCE(t."agents", 0)`,
    async value(client, id) {
      const pairs = effectivePairs({ controlIds: [id] });
      const [row] = await client.$queryRaw<{ agents: bigint }[]>(
        Prisma.sql`SELECT COUNT(*) AS "agents" FROM (${pairs}) e`,
      );
      return BigInt(row?.agents ?? 0);
    },
  },
};

/** The query of a page of controls. */
export async function controlPageQuery(client: DbClient, filters: ControlFilters): Promise<PageQuery> {
  const { orderBy, reverse, limit, cursor } = filters;
  const query = { id: ID, filters: await controlConditions(client, filters), limit };
  if (orderBy === 'newest') {
    const orderedBy = reverse ? ID : Prisma.sql`${ID} DESC`;
    return { ...query, from: Prisma.sql`"controls" c`, orderBy: orderedBy, after: afterId(cursor, reverse) };
  }
  if (orderBy === 'name') {
    const name = cursor === null ? null : await nameOf(client, cursor);
    const orderedBy = reverse ? Prisma.sql`c."name" DESC` : Prisma.sql`c."name"`;
    const after = reverse ? Prisma.sql`c."name" < ${name}` : Prisma.sql`c."name" > ${name}`;
    const isFirst = name === null;
    return { ...query, from: Prisma.sql`"controls" c`, orderBy: orderedBy, after: isFirst ? null : after };
  }
  const { join, column, value } = ORDERS[orderBy];
  const last = cursor !== null && isRowId(cursor) ? await value(client, cursor) : undefined;
  const isAfter = Prisma.sql`${ID} < ${cursor}`;
  return {
    ...query,
    from: Prisma.sql`"controls" c ${join}`,
    orderBy: Prisma.sql`${timedOrder(column, reverse)}, ${ID} DESC`,
    after: last === undefined ? null : afterTimed(column, last, isAfter, reverse),
  };
}

/** Beyond the range of ids the comparison would fail, and its result is known anyway. */
function afterId(cursor: number | null, reverse: boolean): Prisma.Sql | null {
  if (cursor === null || (reverse ? cursor < MIN_ID : cursor > MAX_ID)) return null;
  if (reverse ? cursor > MAX_ID : cursor < MIN_ID) return FALSE;
  return reverse ? Prisma.sql`${ID} > ${cursor}` : Prisma.sql`${ID} < ${cursor}`;
}

/** Also of a control that was deleted meanwhile. */
async function nameOf(client: DbClient, id: number): Promise<string | null> {
  if (!isRowId(id)) return null;
  return (await client.control.findUnique({ where: { id }, select: { name: true } }))?.name ?? null;
}
