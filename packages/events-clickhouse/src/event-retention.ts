import { bigintOf } from '../../../src/observe/events/store/count.js';
import type { EventRetention } from '../../../src/observe/events/store/event-retention.js';
import { claimPruning } from '../../../src/observe/events/store/log-row.js';
import { higher } from '../../../src/observe/events/store/position-order.js';
import type { BulkDatabase } from '../../../src/storage/database/bulk.js';
import { monthOf } from '../../clickhouse-tables/src/index.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { existsAt } from './event-search.js';
import type { Deletions, Leases, LogState } from './lease.js';
import type { WriteTurns } from './write-turns.js';

/** A claim on pruning expires after this time without renewal, in milliseconds. Longer than any of its steps. */
const CLAIM_MS = 90_000;
/** Rows among which the first event is looked for. */
const FIRST_ROWS = 10_000;
/** A lightweight deletion is done when it is in all parts. */
const WAIT = 'SETTINGS lightweight_deletes_sync = 2';

export interface RetentionOptions {
  readonly connection: ClickHouseConnection;
  readonly leases: Pick<Leases, 'state'>;
  readonly turns: WriteTurns;
  readonly bulk: Pick<BulkDatabase, 'transaction'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Deletes by a mark: what is older, and was stored when the mark was set, does not exist for any query. Partitions are
 * dropped when nothing in them exists any more.
 */
export function createEventRetention({
  connection,
  leases,
  turns,
  bulk,
  now,
}: RetentionOptions): EventRetention {
  const numbers = async (text: string) =>
    (await connection.read('search', { text })).map((row) => row.map(Number));

  /** How many events before a time exist, and the highest of their positions. */
  async function tooOld(log: LogState, beforeUs: bigint): Promise<{ events: number; last: bigint }> {
    const [row] = await connection.read('search', {
      text: `
        SELECT sum(sign), max(position) FROM events
        WHERE time_us < ${beforeUs} AND position <= ${log.position} AND ${existsAt(log) ?? '1'}`,
    });
    return { events: Number(row?.[0] ?? 0), last: bigintOf(row?.[1]) };
  }

  /** Deletes rows at once: a mark that was set with a shorter retention does not include them. */
  async function deleteBeyondMark(log: LogState, beforeUs: bigint): Promise<void> {
    const where = `time_us < ${beforeUs} AND position > ${log.prunedUpTo} AND position <= ${log.position}`;
    await connection.command(`DELETE FROM event_ids WHERE ${where} ${WAIT}`);
    await connection.command(`DELETE FROM events WHERE ${where} ${WAIT}`);
  }

  /** Drops the partitions in which nothing exists, while no process writes to them. */
  async function dropPartitions(): Promise<void> {
    const { prunedBeforeUs, prunedUpTo } = await leases.state();
    const dropped = await turns.run(async () => {
      const rows = await numbers(`
        SELECT partition FROM events WHERE partition < ${monthOf(prunedBeforeUs)} GROUP BY partition
        HAVING max(time_us) < ${prunedBeforeUs} AND max(position) <= ${prunedUpTo}`);
      for (const [partition] of rows)
        await connection.command(`ALTER TABLE events DROP PARTITION ${partition}`);
      return rows.length;
    });
    if (dropped === 0) return;
    // By the mark, these ids are not known any more.
    await connection.command(
      `DELETE FROM event_ids WHERE time_us < ${prunedBeforeUs} AND position <= ${prunedUpTo} ${WAIT}`,
    );
  }

  /** Deletes all events that are too old. Returns their number. */
  async function deleteEvents(beforeUs: bigint): Promise<number> {
    return turns.run(async ({ state, finishPruning }) => {
      const { events, last } = await tooOld(state, beforeUs);
      if (events === 0) return 0;
      const isEarlier = beforeUs < state.prunedBeforeUs && state.prunedUpTo > 0n;
      if (isEarlier) await deleteBeyondMark(state, beforeUs);
      const deletions: Deletions = {
        prunedPosition: higher(last, state.prunedPosition),
        prunedBeforeUs: isEarlier ? state.prunedBeforeUs : beforeUs,
        prunedUpTo: isEarlier ? state.prunedUpTo : state.position,
      };
      await finishPruning(deletions);
      return events;
    });
  }

  const isOldRollup = (unitS: number, beforeS: number) => `unit_s = ${unitS} AND start_s < ${beforeS}`;
  const countRollups = async (where: string) => {
    const [row] = await numbers(`
      SELECT count() FROM (
        SELECT 1 FROM event_rollups WHERE ${where}
        GROUP BY unit_s, start_s, agent_name, control_id, control_name)`);
    return row?.[0] ?? 0;
  };

  /** The time of the first event. Of thousands that were all replaced, it can be the time of the first of these. */
  async function firstEvent(): Promise<bigint | null> {
    const exists = existsAt(await leases.state()) ?? '1';
    const [row] = await connection.read('search', {
      text: `
        SELECT minIf(time_us, sum > 0), min(time_us), countIf(sum > 0), count() FROM (
          SELECT time_us, sum(sign) AS sum FROM (
            SELECT time_us, position, version, sign FROM events WHERE ${exists}
            ORDER BY time_us, position LIMIT ${FIRST_ROWS})
          GROUP BY time_us, position, version)`,
    });
    const [first, replaced, events, all] = row ?? [];
    if (Number(all ?? 0) === 0) return null;
    return bigintOf(Number(events) > 0 ? first : replaced);
  }

  return {
    async oldest() {
      const eventUs = await firstEvent();
      const rollups = await numbers('SELECT unit_s, min(start_s) FROM event_rollups GROUP BY unit_s');
      return {
        eventUs,
        rollupS: new Map(rollups.map(([unitS = 0, startS = 0]) => [unitS, startS])),
      };
    },
    async count({ eventsBeforeUs, rollups }) {
      const log = await leases.state();
      const { events } = eventsBeforeUs === null ? { events: 0 } : await tooOld(log, eventsBeforeUs);
      let old = 0;
      for (const { unitS, beforeS } of rollups) old += await countRollups(isOldRollup(unitS, beforeS));
      return { events, rollups: old };
    },
    claim: () => claimPruning('event_store_lease', bulk, now(), CLAIM_MS),
    eventBatches: (beforeUs) => async () => {
      const events = await deleteEvents(beforeUs);
      // Also what an earlier attempt has left.
      if (events === 0) await dropPartitions();
      return events;
    },
    rollupBatches:
      ({ unitS, beforeS }) =>
      async () => {
        const where = isOldRollup(unitS, beforeS);
        const rollups = await countRollups(where);
        if (rollups > 0) await connection.command(`DELETE FROM event_rollups WHERE ${where} ${WAIT}`);
        return rollups;
      },
  };
}
