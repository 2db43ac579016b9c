import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database, DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { isRowId } from '../../storage/database/row-id.js';
import { snakeCase } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';
import {
  type ActiveShadow,
  KEPT_DIFFERENCES,
  SHADOW_COUNTS,
  type ShadowCounts,
  type ShadowDifference,
  type ShadowShareBy,
} from './shadow.js';

/** A shadow as stored, with its comparison. Times are in milliseconds since 1970. */
export interface ShadowRow extends ActiveShadow, ShadowCounts {
  readonly setAtMs: number;
  readonly setBy: string | null;
  /** Version of the control when it was set. */
  readonly baseVersion: number;
  /** Latest first. */
  readonly differences: readonly ShadowDifference[];
}

export type NewShadow = Omit<ShadowRow, 'id' | 'namespace' | 'differences' | keyof ShadowCounts>;

/** What was found about a shadow since it was last written. */
export interface ShadowNews {
  readonly shadowId: number;
  readonly counts: ShadowCounts;
  /** Oldest first. */
  readonly differences: readonly ShadowDifference[];
}

const WITH_DIFFERENCES = {
  differences: { orderBy: { id: 'desc' }, take: KEPT_DIFFERENCES },
} satisfies Prisma.ControlShadowInclude;

/** The shadows of a namespace. Every method rejects with a `ServiceError` only. */
export function createShadowStore({ client, namespace }: Scoped) {
  const of = { namespace: namespace.name };
  return {
    /** Null also for a number that cannot be the id of a control. */
    find: (controlId: number): Promise<ShadowRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(controlId)) return null;
        const row = await client.controlShadow.findUnique({
          where: { controlId, ...of },
          include: WITH_DIFFERENCES,
        });
        return row === null ? null : toRow(row);
      }),

    /** By id of the control ascending. */
    list: (): Promise<ShadowRow[]> =>
      withServiceErrors(async () => {
        const rows = await client.controlShadow.findMany({
          where: of,
          orderBy: { controlId: 'asc' },
          include: WITH_DIFFERENCES,
        });
        return rows.map(toRow);
      }),

    /** Number of controls with a shadow, besides this one. */
    countOthers: (controlId: number): Promise<number> =>
      withServiceErrors(() =>
        client.controlShadow.count({ where: { ...of, controlId: { not: controlId } } }),
      ),

    /** In place of the one that the control has. */
    set: (shadow: NewShadow): Promise<ShadowRow> =>
      withServiceErrors(async () => {
        for (const text of [shadow.data, shadow.setBy ?? '']) assertStorable(text);
        await client.controlShadow.deleteMany({ where: { controlId: shadow.controlId, ...of } });
        const data = { ...shadow, ...of, setAtMs: BigInt(shadow.setAtMs) };
        return toRow({ ...(await client.controlShadow.create({ data })), differences: [] });
      }),

    /** Its differences go with it. */
    remove: (controlId: number): Promise<void> =>
      withServiceErrors(async () => {
        await client.controlShadow.deleteMany({ where: { controlId, ...of } });
      }),
  };
}

/** The shadows of all namespaces. Rejects with a `ServiceError` only. */
export function readActiveShadows(client: DbClient): Promise<ActiveShadow[]> {
  return withServiceErrors(async () => {
    const select = { id: true, namespace: true, controlId: true, data: true, share: true, shareBy: true };
    const rows = await client.controlShadow.findMany({ select, orderBy: { id: 'asc' } });
    return rows.map((row) => ({ ...row, shareBy: row.shareBy as ShadowShareBy }));
  });
}

/**
 * Adds to the counts of shadows, in one statement, and keeps their latest differences. What belongs to shadows that do not exist
 * any more is left out. Rejects with a `ServiceError` only.
 */
export async function writeNews(
  { bulk }: Pick<Database, 'bulk'>,
  news: readonly ShadowNews[],
): Promise<void> {
  const differences = news.flatMap(({ shadowId, differences }) =>
    differences.map((difference) => differenceValues(shadowId, difference)),
  );
  const ids = Prisma.join(news.map(({ shadowId }) => shadowId));
  await bulk.transaction(async (tx) => {
    // The first locks the rows of the shadows, so that none goes before its differences are written.
    await tx.run(
      addedCounts(news),
      ...(differences.length === 0 ? [] : [insertedDifferences(differences), prunedDifferences(ids)]),
    );
  });
}

/** Its columns, in the order of `SHADOW_COUNTS`. */
const COUNT_COLUMNS = SHADOW_COUNTS.map((count) => Prisma.raw(`"${snakeCase(count)}"`));

function addedCounts(news: readonly ShadowNews[]): Prisma.Sql {
  const rows = news.map(({ shadowId, counts }) => {
    const values = SHADOW_COUNTS.map((count) => Prisma.sql`CAST(${BigInt(counts[count])} AS BIGINT)`);
    return Prisma.sql`(CAST(${shadowId} AS INTEGER), ${Prisma.join(values)})`;
  });
  const sums = COUNT_COLUMNS.map((column) => Prisma.sql`${column} = s.${column} + n.${column}`);
  return Prisma.sql`
    WITH n ("shadow_id", ${Prisma.join(COUNT_COLUMNS)}) AS (VALUES ${Prisma.join(rows)})
    UPDATE "control_shadows" AS s SET ${Prisma.join(sums)} FROM n WHERE s."id" = n."shadow_id"`;
}

function differenceValues(shadowId: number, difference: ShadowDifference): Prisma.Sql {
  const { decisionId, agentName, stage, stepType, stepName, shadowMatched, message, atMs } = difference;
  const texts = [decisionId, agentName, stage, stepType, stepName].map(
    (text) => Prisma.sql`CAST(${text} AS TEXT)`,
  );
  return Prisma.sql`CAST(${shadowId} AS INTEGER), ${Prisma.join(texts)}, CAST(${shadowMatched} AS BOOLEAN), CAST(${message} AS TEXT),
    CAST(${BigInt(atMs)} AS BIGINT)`;
}

const DIFFERENCE_COLUMNS = Prisma.raw(
  '"shadow_id", "decision_id", "agent_name", "stage", "step_type", "step_name", "shadow_matched", "message", "at_ms"',
);

/** Ids are in the order of the rows. */
function insertedDifferences(rows: readonly Prisma.Sql[]): Prisma.Sql {
  const placed = rows.map((row, place) => Prisma.sql`(CAST(${place} AS INTEGER), ${row})`);
  return Prisma.sql`
    INSERT INTO "shadow_differences" (${DIFFERENCE_COLUMNS})
    WITH d ("place", ${DIFFERENCE_COLUMNS}) AS (VALUES ${Prisma.join(placed)})
    SELECT ${DIFFERENCE_COLUMNS} FROM d WHERE EXISTS (SELECT 1 FROM "control_shadows" s WHERE s."id" = d."shadow_id")
    ORDER BY d."place"`;
}

function prunedDifferences(ids: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    DELETE FROM "shadow_differences" WHERE "shadow_id" IN (${ids}) AND "id" NOT IN (
      SELECT k."id" FROM (
        SELECT "id", ROW_NUMBER() OVER (PARTITION BY "shadow_id" ORDER BY "id" DESC) AS "place"
        FROM "shadow_differences" WHERE "shadow_id" IN (${ids})
      ) k WHERE k."place" <= ${KEPT_DIFFERENCES})`;
}

function toRow(row: Prisma.ControlShadowGetPayload<{ include: { differences: true } }>): ShadowRow {
  const counts = Object.fromEntries(
    SHADOW_COUNTS.map((count) => [count, Number(row[count])]),
  ) as ShadowCounts;
  return {
    ...row,
    ...counts,
    shareBy: row.shareBy as ShadowShareBy,
    setAtMs: Number(row.setAtMs),
    differences: row.differences.map((one) => ({ ...one, atMs: Number(one.atMs) })),
  };
}
