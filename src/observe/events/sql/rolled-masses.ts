import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../../storage/database/database.js';
import type { EventFilter } from '../store/event-filter.js';
import { ROLLUP_LEVELS } from '../store/rollup-levels.js';
import { cover } from '../store/time-range.js';
import { conditionOf } from './event-conditions.js';
import { type RolledFilter, walkedFilter } from './rolled-filter.js';
import { firstRolledS, rollupsOf } from './rollups.js';
import { ALL_EVENTS } from './segment-tables.js';

/** Number of events within one unit of time, or the part of it that is within the range of a filter. */
export interface Mass {
  readonly fromS: number;
  readonly toS: number;
  readonly events: number;
}

/** The events of a filter that rollups count. */
export interface RolledMasses {
  /** Events before this time, in microseconds since 1970, are not counted: rollups do not have exactly these. */
  readonly fromUs: bigint;
  /** By unit of time, oldest first. */
  readonly masses: readonly Mass[];
}

const SECOND_US = 1_000_000n;
/** Units of rollups are at most this part of the range. */
const FEWEST_UNITS = 8;

/** Counts the events of a filter by rollups; units that are only partly within its range count in proportion. */
export function createRolledMasses({
  database: { bulk, kind },
  now,
}: {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}): (rolled: RolledFilter) => Promise<RolledMasses> {
  /** Times of the first event, from `fromS` on, and of the last one, in seconds. */
  async function extent(walked: EventFilter, fromS: number): Promise<{ firstS: number; lastS: number }> {
    const where = conditionOf({ ...walked, start_time: { us: BigInt(fromS) * SECOND_US } });
    const [row] = await bulk.read(
      'search',
      Prisma.sql`
        SELECT (SELECT "time_us" FROM ${ALL_EVENTS} WHERE ${where} ORDER BY "time_us" LIMIT 1),
          (SELECT "time_us" FROM ${ALL_EVENTS} WHERE ${where} ORDER BY "time_us" DESC LIMIT 1)`,
    );
    const [first, last] = [row?.[0], row?.[1]].map((us) => Math.floor(Number(us ?? 0) / 1e6));
    return { firstS: first ?? 0, lastS: last ?? 0 };
  }

  async function massesFrom(rolledFromS: number, nowS: number, { filter, count }: RolledFilter) {
    const { namespace, agent_name, control_ids, start_time, end_time } = filter;
    const { firstS, lastS } = await extent(walkedFilter(filter), rolledFromS);
    const fromS = Math.max(secondOf(start_time) ?? rolledFromS, rolledFromS, firstS);
    const toS = Math.min((secondOf(end_time) ?? lastS) + 1, lastS + 1);
    if (fromS >= toS) return [];
    const kept = ROLLUP_LEVELS.filter(({ keptS }) => fromS >= nowS - keptS).map(({ unitS }) => unitS);
    const finest = kept[0] ?? 1;
    // Long units are quicker to sum, short ones tell better when the events were.
    const units = kept.filter((unitS) => unitS === finest || unitS * FEWEST_UNITS <= toS - fromS);
    const segments = cover(null, floorTo(fromS, finest), floorTo(toS - 1, finest) + finest, units);
    const rollups = rollupsOf(kind, segments, [conditionOf({ namespace, agent_name, control_ids })]);
    const rows = await bulk.read(
      'search',
      Prisma.sql`
        SELECT "start_s", "unit_s", CAST(SUM(${count}) AS BIGINT) FROM ${rollups} GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    return rows.map((row): Mass => {
      const [startS = 0, unitS = 0, events = 0] = row.map(Number);
      // The first unit may have events that were pruned.
      const beganS = startS < rolledFromS ? startS : Math.max(startS, firstS);
      const endedS = Math.min(startS + unitS, lastS + 1);
      const within = { fromS: Math.max(beganS, fromS), toS: Math.min(endedS, toS) };
      return { ...within, events: (events * (within.toS - within.fromS)) / (endedS - beganS) };
    });
  }

  return async (rolled) => {
    const nowS = Math.floor(now() / 1000);
    const fromS = await firstRolledS(bulk, nowS);
    return { fromUs: BigInt(fromS) * SECOND_US, masses: await massesFrom(fromS, nowS, rolled) };
  };
}

function secondOf(time: EventFilter['start_time']): number | undefined {
  return time && Math.floor(Number(time.us) / 1e6);
}

function floorTo(second: number, unitS: number): number {
  return Math.floor(second / unitS) * unitS;
}
