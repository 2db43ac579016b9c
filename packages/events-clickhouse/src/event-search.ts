import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { EventFilter } from '../../../src/observe/events/store/event-filter.js';
import type { EventCursor, EventSearch } from '../../../src/observe/events/store/event-search.js';
import { PART_LIMITS, type PartLimits } from '../../../src/observe/events/store/event-tail.js';
import {
  createWalks,
  cursorAfter,
  pageOf,
  type SearchPart,
} from '../../../src/observe/events/store/event-walk.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { type ClickHouseEvent, COLUMN_NAMES, OCTETS, readRow } from './clickhouse-row.js';
import {
  type Conditions,
  clickHouseConditionsOf,
  isWhole,
  queryOf,
  whereOf,
  withCondition,
} from './conditions.js';
import { withoutCancelled } from './known-events.js';
import type { LogState } from './lease.js';

/** Latest first. Rows with the same time and position are versions of one event. */
const ORDER = 'time_us DESC, position DESC';
/** Most rows of one event: two versions, and the row that cancels the first one. */
const ROWS_PER_EVENT = 3;
/** The first part is limited by its number of events only. */
const ANY_OCTETS = Number.MAX_SAFE_INTEGER;

export interface EventSearchOptions {
  readonly connection: Pick<ClickHouseConnection, 'read'>;
  readonly state: () => Promise<LogState>;
  readonly partLimits?: PartLimits;
}

export function createEventSearch({
  connection,
  state,
  partLimits = PART_LIMITS,
}: EventSearchOptions): EventSearch {
  const walk = createWalks();

  /** The first events after a cursor, as far as all of their rows are among the first `rows`. */
  async function readPart(
    conditions: Conditions,
    after: EventCursor | undefined,
    rows: number,
    octets: number,
  ): Promise<SearchPart<ClickHouseEvent>> {
    const all = after === undefined ? conditions : withCondition(conditions, isAfter(after));
    // Rows of one event have the same sum, so that they are all within the limit or none is.
    const found = await connection.read(
      'search',
      queryOf(
        `SELECT ${COLUMN_NAMES}, all_rows FROM (
           SELECT *, sum(octets) OVER (ORDER BY ${ORDER}) - sum(octets) OVER (PARTITION BY time_us, position) AS octets_before,
             count() OVER () AS all_rows
           FROM (SELECT ${COLUMN_NAMES}, ${OCTETS} AS octets FROM events WHERE ${whereOf(all)}
             ORDER BY ${ORDER} LIMIT ${rows}))
         WHERE octets_before < ${octets} ORDER BY ${ORDER}, version`,
        all,
      ),
    );
    const read = found.map(readRow);
    const ordered = Number(found[0]?.at(-1) ?? 0);
    const isWhole = ordered < rows && found.length === ordered;
    if (isWhole) return { events: withoutCancelled(read), after: undefined };
    const last = read.at(-1);
    // The last event may have more rows than were read, unless the octets were the limit.
    const complete = found.length === rows ? read.filter((row) => !isSame(row, last)) : read;
    if (complete.length === 0) return readPart(conditions, after, 2 * rows, octets);
    return { events: withoutCancelled(complete), after: cursorAfter(complete.at(-1)) };
  }

  /** Reads events until there are as many as wanted. */
  async function readPage(
    conditions: Conditions,
    from: EventCursor | undefined,
    wanted: number,
  ): Promise<ClickHouseEvent[]> {
    const events: ClickHouseEvent[] = [];
    for (let after = from; ; ) {
      const part = await readPart(conditions, after, wanted - events.length + ROWS_PER_EVENT, ANY_OCTETS);
      events.push(...part.events);
      after = part.after;
      if (after === undefined || events.length >= wanted) return events.slice(0, wanted);
    }
  }

  /** The cursor after `offset` events, the first of which follows `after`; undefined when there are fewer. */
  async function skip(
    conditions: Conditions,
    after: EventCursor | undefined,
    offset: number,
  ): Promise<EventCursor | undefined> {
    const all = after === undefined ? conditions : withCondition(conditions, isAfter(after));
    const where = whereOf(all);
    const [cancelled] = await connection.read(
      'search',
      queryOf(`SELECT count() FROM events WHERE ${where} AND sign = -1`, all),
    );
    // Mostly there are none, and then the order of the table is enough.
    const each =
      Number(cancelled?.[0]) === 0 ? '' : 'GROUP BY time_us, position, version HAVING sum(sign) > 0';
    const [row] = await connection.read(
      'search',
      queryOf(
        `SELECT time_us, position FROM (SELECT time_us, position FROM events WHERE ${where} ${each})
         ORDER BY ${ORDER} LIMIT 1 OFFSET ${offset - 1} SETTINGS optimize_aggregation_in_order = 1`,
        all,
      ),
    );
    return row && { timeUs: bigintOf(row[0]), position: bigintOf(row[1]) };
  }

  /** The conditions of a filter, without deleted events. */
  async function existing(filter: EventFilter): Promise<Conditions | 'nothing'> {
    const conditions = clickHouseConditionsOf(filter);
    if (conditions === 'nothing') return 'nothing';
    const exists = existsAt(await state());
    return exists === undefined ? conditions : withCondition(conditions, exists);
  }

  async function count(filter: EventFilter): Promise<number> {
    const conditions = clickHouseConditionsOf(filter);
    if (conditions === 'nothing') return 0;
    const log = await state();
    const sum = async (all: Conditions) => {
      const [row] = await connection.read(
        'search',
        queryOf(`SELECT sum(sign) FROM events WHERE ${whereOf(all)}`, all),
      );
      return Number(row?.[0] ?? 0);
    };
    const exists = existsAt(log);
    if (exists === undefined) return sum(conditions);
    if (!isWhole(conditions)) return sum(withCondition(conditions, exists));
    // Without a filter, reading the times of all events would take longest.
    const [all, deleted] = await Promise.all([
      sum(conditions),
      sum(withCondition(conditions, deletedAt(log))),
    ]);
    return all - deleted;
  }

  return {
    async page(filter, { limit, offset = 0, after }) {
      const conditions = await existing(filter);
      if (conditions === 'nothing') return { events: [], next: undefined };
      const from = offset === 0 ? after : await skip(conditions, after, offset);
      if (offset > 0 && from === undefined) return { events: [], next: undefined };
      return pageOf(await readPage(conditions, from, limit + 1), limit);
    },
    count,
    // Counting reads a few bytes of each event.
    estimate: async (filter) => ({ events: await count(filter), isExact: true }),
    async *walk(filter) {
      const conditions = await existing(filter);
      if (conditions === 'nothing') return;
      yield* walk((after) => readPart(conditions, after, partLimits.events, partLimits.octets));
    },
  };
}

/** Condition that an event is not deleted; undefined when none is. */
export function existsAt({ prunedBeforeUs, prunedUpTo }: LogState): string | undefined {
  return prunedUpTo === 0n ? undefined : `(time_us >= ${prunedBeforeUs} OR position > ${prunedUpTo})`;
}

function deletedAt({ prunedBeforeUs, prunedUpTo }: LogState): string {
  return `time_us < ${prunedBeforeUs} AND position <= ${prunedUpTo}`;
}

function isAfter({ timeUs, position }: EventCursor): string {
  return `time_us <= ${timeUs} AND (time_us < ${timeUs} OR position < ${position})`;
}

function isSame(one: ClickHouseEvent, other: ClickHouseEvent | undefined): boolean {
  return one.position === other?.position && one.event.timestamp.us === other.event.timestamp.us;
}
