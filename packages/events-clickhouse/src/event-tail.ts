import { bigintOf } from '../../../src/observe/events/store/count.js';
import { eventTest } from '../../../src/observe/events/store/event-filter.js';
import {
  type EventTail,
  MESSAGE_LIMITS,
  type PartLimits,
} from '../../../src/observe/events/store/event-tail.js';
import { lower } from '../../../src/observe/events/store/position-order.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { COLUMN_NAMES, OCTETS, readRow } from './clickhouse-row.js';
import { existsAt } from './event-search.js';
import { withoutCancelled } from './known-events.js';
import type { LogState } from './lease.js';

export interface EventTailOptions {
  readonly connection: Pick<ClickHouseConnection, 'read'>;
  readonly state: () => Promise<LogState>;
  readonly limits?: PartLimits;
}

/** Events by position: a position is shown when all events up to it are complete. */
export function createEventTail({ connection, state, limits = MESSAGE_LIMITS }: EventTailOptions): EventTail {
  return {
    async state() {
      const { position, prunedPosition, restored } = await state();
      return { head: position, prunedPosition, restored };
    },
    async after(lane, position, filter) {
      const log = await state();
      const { position: head, prunedPosition, restored } = log;
      // There are as many positions as events, except where some were deleted.
      const end = lower(position + BigInt(limits.events), head);
      const exists = existsAt(log) ?? '1';
      const rows = await connection.read(lane, {
        text: `
          SELECT ${COLUMN_NAMES}, octets, all_rows FROM (
            SELECT *, sum(octets) OVER (ORDER BY position) - sum(octets) OVER (PARTITION BY position) AS octets_before,
              count() OVER () AS all_rows
            FROM (SELECT ${COLUMN_NAMES}, ${OCTETS} AS octets FROM events
              WHERE position > ${position} AND position <= ${end} AND ${exists}))
          WHERE octets_before < ${limits.octets} ORDER BY position, version`,
      });
      const octets = new Map(rows.map((row) => [String(row[POSITION]), Number(row.at(-2))]));
      const read = withoutCancelled(rows.map(readRow));
      const isCut = rows.length < Number(rows[0]?.at(-1) ?? 0);
      const passes = eventTest(filter);
      return {
        events: read
          .filter(({ event }) => passes(event))
          .map(({ position: at, event }) => ({ position: at, event, octets: octets.get(String(at)) ?? 0 })),
        upTo: isCut ? (read.at(-1)?.position ?? end) : await upTo(rows.length === 0, position, end, log),
        head,
        prunedPosition,
        restored,
      };
    },
  };

  /** The end of a part, and of the gap that it is in if it is empty. */
  async function upTo(
    isEmpty: boolean,
    after: bigint,
    end: bigint,
    { position: head }: LogState,
  ): Promise<bigint> {
    if (!isEmpty || end >= head) return after > head ? head : end;
    const [row] = await connection.read('search', {
      text: `SELECT min(position) FROM events WHERE position > ${end} AND position <= ${head}`,
    });
    const next = bigintOf(row?.[0]);
    return next === 0n ? head : next - 1n;
  }
}

/** Index in `COLUMN_NAMES`. */
const POSITION = COLUMN_NAMES.split(', ').indexOf('position');
