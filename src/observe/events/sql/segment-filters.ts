import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';
import { bigintOf } from '../store/count.js';
import { IdFilter } from './id-filter.js';
import { type Segment, tableOf } from './segment-tables.js';
import { closedSegments } from './segments.js';
import type { StoredIds } from './stored-ids.js';

/** Ids read at once: less than a millisecond of work for the thread that serves requests. */
const IDS_PER_READ = 2_000;

export interface SegmentFiltersOptions {
  readonly bulk: Pick<BulkDatabase, 'read' | 'transaction'>;
  readonly ids: StoredIds;
  /** Work ends after the current statement when this is true. */
  readonly isClosed: () => boolean;
}

/** The filters of the ids in closed segments: loads those that are stored, and builds those that are missing. */
export function createSegmentFilters({ bulk, ids, isClosed }: SegmentFiltersOptions) {
  async function load(): Promise<void> {
    for (const { number, hasFilter } of await closedSegments(bulk)) {
      if (isClosed() || !hasFilter || ids.hasFilter(number)) continue;
      const [row] = await bulk.read(
        'search',
        Prisma.sql`SELECT "filter" FROM "event_segments" WHERE "number" = ${number}`,
      );
      if (row !== undefined) ids.setFilter(number, IdFilter.fromText(String(row[0])));
    }
  }

  async function build(): Promise<void> {
    for (const segment of await incomplete()) if (!isClosed()) await buildFilter(segment);
  }

  /** The segments without a filter that get no more events. */
  async function incomplete(): Promise<Segment[]> {
    const all = await closedSegments(bulk);
    const old = all.find(({ isOld }) => isOld);
    const [first] =
      old === undefined
        ? []
        : await bulk.read('search', Prisma.sql`SELECT MIN("position") FROM ${tableOf(old)}`);
    const from = old === undefined ? null : bigintOf(first?.[0] ?? old.last + 1n);
    return all.filter(
      ({ hasFilter, isOld, last }) =>
        !hasFilter && !isOld && (from === null || last < from || old === undefined || last > old.last),
    );
  }

  async function buildFilter(segment: Segment): Promise<void> {
    const filter = new IdFilter();
    for (let after = segment.first - 1n; !isClosed(); ) {
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT "position", "control_execution_id" FROM ${tableOf(segment)}
          WHERE "position" > ${after} ORDER BY "position" LIMIT ${IDS_PER_READ}`,
      );
      for (const [, id] of rows) filter.add(String(id));
      const last = rows.at(-1)?.[0];
      if (last === undefined || rows.length < IDS_PER_READ) break;
      after = bigintOf(last);
    }
    if (isClosed()) return;
    await bulk.transaction(async (tx) => {
      await tx.run(Prisma.sql`
        UPDATE "event_segments" SET "filter" = ${filter.toText()} WHERE "number" = ${segment.number}`);
    });
    ids.setFilter(segment.number, filter);
  }

  return { load, build };
}
