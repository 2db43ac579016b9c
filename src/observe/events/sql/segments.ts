import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkTransaction } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { bigint, columns, type ReadRow } from '../../../storage/database/rows.js';
import { higher, lower } from '../store/position-order.js';
import {
  attach,
  createArchive,
  createTable,
  createView,
  dropView,
  OPEN_TABLE,
  SEGMENT,
  type Segment,
  tableName,
  tableOf,
} from './segment-tables.js';

type Kind = DatabaseLocation['kind'];

/**
 * Positions of a segment. All indexes of one fit into the page cache, so that storing an event costs the same however
 * many are stored; and there are few enough of them that a query can look into each.
 */
export const SEGMENT_POSITIONS = 2n ** 19n;
/** SQLite combines up to 500 tables in a view. When there are this many segments, further ones get larger. */
const MANY_SEGMENTS = 400;
const MANY_TIMES_LARGER = 32n;

export const LOG = columns({
  /** The last position that was given away. */
  position: bigint,
  /** Number of changes of the tables; 0 before the first one. */
  generation: bigint,
});

/** State of the log of events. */
export type LogState = ReadRow<typeof LOG>;

/** Acquires the lock that all writers of events acquire first, and some positions, up to the returned one. */
export async function lockLog(tx: BulkTransaction, count = 0): Promise<LogState> {
  const [log] = await tx.run(Prisma.sql`
    UPDATE "event_log" SET "position" = "position" + ${count} WHERE "id" = 1 RETURNING ${LOG.list}`);
  const [row] = log?.rows ?? [];
  if (row === undefined) throw new Error('the row of the event log is missing');
  return LOG.read(row);
}

const SELECT_SEGMENTS = Prisma.sql`SELECT ${SEGMENT.list} FROM "event_segments" ORDER BY "first_position"`;

/** The closed segments, in the order of their positions. */
export async function closedSegments(bulk: Pick<BulkDatabase, 'read'>): Promise<Segment[]> {
  return (await bulk.read('search', SELECT_SEGMENTS)).map(SEGMENT.read);
}

/** The same within a transaction. */
export async function segmentsIn(tx: BulkTransaction): Promise<Segment[]> {
  const [found] = await tx.run(SELECT_SEGMENTS);
  return (found?.rows ?? []).map(SEGMENT.read);
}

/** Whether the open table has so many events that it is time to close it. */
export function isFull(position: bigint, segments: readonly Pick<Segment, 'last'>[]): boolean {
  const size = SEGMENT_POSITIONS * (segments.length < MANY_SEGMENTS ? 1n : MANY_TIMES_LARGER);
  return position - lastOf(segments) >= size;
}

/** The last position of the closed segments. */
function lastOf(segments: readonly Pick<Segment, 'last'>[]): bigint {
  return segments.reduce((last, segment) => higher(last, segment.last), 0n);
}

/**
 * Closes the open table and begins a new one, if it is full or, with `anyway`, if it has events. It is renamed, not copied.
 * The first time, the table that was there before segments becomes an old one.
 */
export async function closeSegment(kind: Kind, tx: BulkTransaction, anyway = false): Promise<void> {
  const { position, generation } = await lockLog(tx);
  const segments = await segmentsIn(tx);
  const isFirst = generation === 0n;
  if (!isFirst && !anyway && !isFull(position, segments)) return;
  const [one] = await tx.run(Prisma.sql`SELECT "position" FROM ${OPEN_TABLE} LIMIT 1`);
  const isEmpty = one?.rows.length === 0;
  if (isEmpty && !isFirst) return;
  const number = Number(generation) + 1;
  const closed = isEmpty
    ? undefined
    : { number, first: lastOf(segments) + 1n, last: position, isOld: isFirst, hasFilter: false };
  await tx.run(
    ...createArchive(kind),
    ...dropView(kind),
    closed === undefined
      ? Prisma.sql`DROP TABLE ${OPEN_TABLE}`
      : Prisma.sql`ALTER TABLE ${OPEN_TABLE} RENAME TO ${tableOf(closed)}`,
    ...createTable(kind, OPEN_TABLE.sql, number),
    ...(closed === undefined ? [] : [...attach(kind, closed), insertSegment(closed)]),
    ...changed(kind, closed === undefined ? segments : [...segments, closed]),
  );
}

/** Creates an empty segment for events of the old table from a position on, and returns it. */
export async function createSegment(
  kind: Kind,
  tx: BulkTransaction,
  old: Segment,
  first: bigint,
): Promise<Segment> {
  const { generation } = await lockLog(tx);
  const number = Number(generation) + 1;
  const end = first + SEGMENT_POSITIONS - 1n;
  const created = { number, first, last: lower(end, old.last), isOld: false, hasFilter: false };
  await tx.run(
    ...dropView(kind),
    ...createTable(kind, tableName(number), number),
    ...attach(kind, created),
    insertSegment(created),
    ...changed(kind, [...(await segmentsIn(tx)), created]),
  );
  return created;
}

/** Deletes a segment with all its events. */
export async function dropSegment(kind: Kind, tx: BulkTransaction, dropped: Segment): Promise<void> {
  const rest = (await segmentsIn(tx)).filter(({ number }) => number !== dropped.number);
  await tx.run(
    ...dropView(kind),
    Prisma.sql`DROP TABLE ${tableOf(dropped)}`,
    Prisma.sql`DELETE FROM "event_segments" WHERE "number" = ${dropped.number}`,
    ...changed(kind, rest),
  );
}

function insertSegment({ number, first, last, isOld }: Segment): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "event_segments" ("number", "first_position", "last_position", "is_old")
    VALUES (${number}, ${first}, ${last}, ${isOld ? 1 : 0})`;
}

/** What every change of the tables ends with. */
function changed(kind: Kind, segments: readonly Segment[]): Prisma.Sql[] {
  return [
    createView(kind, segments),
    Prisma.sql`UPDATE "event_log" SET "generation" = "generation" + 1 WHERE "id" = 1`,
  ];
}
