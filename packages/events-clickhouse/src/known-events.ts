import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { ClickHouseRow } from '../../clickhouse-tables/src/index.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { type ClickHouseEvent, COLUMN_NAMES, readRow } from './clickhouse-row.js';
import type { LogState } from './lease.js';

/** Where the event with an id is. */
export interface Place {
  readonly position: bigint;
  readonly version: number;
  readonly timeUs: bigint;
}

/** Places by id. */
export type KnownEvents = ReadonlyMap<string, Place>;

/** Finds those of some ids whose events are stored, and where. Deleted events are not known any more. */
export async function findKnown(
  connection: ClickHouseConnection,
  ids: readonly string[],
  { prunedBeforeUs, prunedUpTo }: LogState,
): Promise<KnownEvents> {
  const wanted = new Set(ids);
  const list = quoted(ids.map((id) => JSON.stringify([id])).join('\n'));
  const rows = await connection.read('statistics', {
    text: `
      SELECT id, position, version, time_us FROM event_ids
      WHERE hash IN (SELECT cityHash64(id) FROM format(JSONCompactEachRow, 'id String', ${list}))`,
  });
  const known = new Map<string, Place>();
  for (const [id, place] of rows.map(placeOf)) {
    const other = known.get(id);
    if (wanted.has(id) && (other === undefined || isAfter(place, other))) known.set(id, place);
  }
  for (const [id, { position, timeUs }] of known) {
    if (timeUs < prunedBeforeUs && position <= prunedUpTo) known.delete(id);
  }
  return known;
}

/** The stored form of events. One that was merged meanwhile is not found at its old place, and needs no merge. */
export async function readKnown(
  connection: ClickHouseConnection,
  places: Iterable<Place>,
): Promise<readonly ClickHouseEvent[]> {
  const keys = [...places].map(({ timeUs, position }) => `(${timeUs}, ${position})`);
  if (keys.length === 0) return [];
  const rows = await connection.read('statistics', {
    text: `
      SELECT ${COLUMN_NAMES} FROM events WHERE (time_us, position) IN (${keys.join(', ')})
      ORDER BY time_us, position, version`,
  });
  return withoutCancelled(rows.map(readRow));
}

/** The rows that count, in their order. The row of a version and the one that cancels it are next to each other. */
export function withoutCancelled(rows: readonly ClickHouseEvent[]): ClickHouseEvent[] {
  const left: ClickHouseEvent[] = [];
  let sum = 0;
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    sum += row.sign;
    const isLast = next === undefined || next.position !== row.position || next.version !== row.version;
    if (!isLast) continue;
    if (sum > 0) left.push(row);
    sum = 0;
  }
  return left;
}

function placeOf([id, position, version, timeUs]: ClickHouseRow): [string, Place] {
  return [String(id), { position: bigintOf(position), version: Number(version), timeUs: bigintOf(timeUs) }];
}

function isAfter(one: Place, other: Place): boolean {
  return one.position > other.position || (one.position === other.position && one.version > other.version);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
