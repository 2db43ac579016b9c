import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../../storage/database/database.js';
import { withServiceErrors } from '../../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../../storage/database/page.js';
import { columns, nullable, number, type ReadRow, text } from '../../../storage/database/rows.js';
import type { Scoped } from '../../../storage/database/scoped.js';

const MARK = columns({
  id: number,
  controlId: number,
  controlExecutionId: text,
  /** Key of the agent. */
  agentName: text,
  decisionId: nullable(text),
  matchedAtMs: number,
  note: nullable(text),
  markedBy: text,
  markedAtMs: number,
});

/** A match that is marked. Times are in milliseconds since 1970. */
export type MarkRow = ReadRow<typeof MARK>;

/** The match of a mark. */
export type MarkedMatch = Pick<MarkRow, 'controlId' | 'controlExecutionId'>;

/** Selection of marks to list. */
export interface MarkFilters extends PageAsked<number> {
  readonly controlId: number | null;
  /** Empty for all. */
  readonly controlExecutionIds: readonly string[];
  /** Only matches since then; null for all. */
  readonly sinceMs: number | null;
}

/** The marks of a namespace. Every method rejects with a `ServiceError` only. */
export function createMarkStore({ client, namespace: { name: namespace } }: Scoped) {
  const keyOf = ({ controlId, controlExecutionId }: MarkedMatch) => ({
    namespace_controlId_controlExecutionId: { namespace, controlId, controlExecutionId },
  });
  return {
    find: (match: MarkedMatch): Promise<MarkRow | null> =>
      withServiceErrors(async () => {
        const row = await client.falsePositive.findUnique({ where: keyOf(match) });
        return row === null ? null : MARK.of(row);
      }),

    /** One page, latest mark first. */
    list: ({ cursor, limit, controlId, controlExecutionIds, sinceMs }: MarkFilters): Promise<Page<MarkRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"false_positives" f`,
          filters: [
            Prisma.sql`f."namespace" = ${namespace}`,
            ...(controlId === null ? [] : [Prisma.sql`f."control_id" = ${controlId}`]),
            ...(sinceMs === null ? [] : [Prisma.sql`f."matched_at_ms" >= ${BigInt(sinceMs)}`]),
            ...(controlExecutionIds.length === 0
              ? []
              : [Prisma.sql`f."control_execution_id" IN (${Prisma.join([...controlExecutionIds])})`]),
          ],
          ...newestFirst(Prisma.sql`f."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const rows = await client.falsePositive.findMany({ where: { namespace, id: { in: ids } } });
          return rows.map(MARK.of);
        });
      }),

    count: (): Promise<number> =>
      withServiceErrors(() => client.falsePositive.count({ where: { namespace } })),

    insert: (mark: Omit<MarkRow, 'id'>): Promise<MarkRow> =>
      withServiceErrors(async () => {
        const times = { matchedAtMs: BigInt(mark.matchedAtMs), markedAtMs: BigInt(mark.markedAtMs) };
        return MARK.of(await client.falsePositive.create({ data: { ...mark, ...times, namespace } }));
      }),

    /** The match must have a mark. */
    setNote: (match: MarkedMatch, note: string): Promise<MarkRow> =>
      withServiceErrors(async () =>
        MARK.of(await client.falsePositive.update({ where: keyOf(match), data: { note } })),
      ),

    /** The match must have a mark. */
    remove: (match: MarkedMatch): Promise<unknown> =>
      withServiceErrors(() => client.falsePositive.delete({ where: keyOf(match) })),

    /** Removes the marks of matches before a time. */
    removeBefore: (ms: number): Promise<unknown> =>
      withServiceErrors(() =>
        client.falsePositive.deleteMany({ where: { namespace, matchedAtMs: { lt: BigInt(ms) } } }),
      ),
  };
}

/** The decisions of a namespace that marked matches were part of. Few enough to be kept in memory. */
export async function markedDecisions(
  { bulk }: Pick<Database, 'bulk'>,
  namespace: string,
): Promise<ReadonlySet<string>> {
  const rows = await bulk.read(
    'search',
    Prisma.sql`SELECT DISTINCT "decision_id" FROM "false_positives"
      WHERE "namespace" = ${namespace} AND "decision_id" IS NOT NULL`,
  );
  return new Set(rows.map(([decisionId]) => String(decisionId)));
}
