import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../database/database.js';
import { jsonElements } from '../../database/json-elements.js';
import { allOf } from '../../database/text.js';
import type { EventFilter } from '../event-filter.js';
import { ROLLUP_LEVELS } from '../rollup-levels.js';
import { type EventCount, type EventSearch, EXACT_ESTIMATES } from '../store/event-search.js';
import { cover } from '../time-range.js';
import { conditionsOf } from './event-conditions.js';
import { type RolledFilter, rolledFilter } from './rolled-filter.js';

/** Sizes of an estimate. */
export interface EstimateLimits {
  /** Up to this number of events, an estimate is exact. */
  readonly exact: number;
  /** Places in time at which events are sampled. */
  readonly places: number;
  /** Events that are read at each place. */
  readonly events: number;
}

const LIMITS: EstimateLimits = { exact: EXACT_ESTIMATES, places: 40, events: 250 };
const SECOND_US = 1_000_000n;
/** Units of rollups are at most this part of the range. */
const FEWEST_UNITS = 8;

export interface EstimateOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: EstimateLimits;
}

/** Number of events within one unit of time, or the part of it that is within the range of a filter. */
interface Mass {
  readonly fromS: number;
  readonly toS: number;
  readonly events: number;
}

/**
 * Estimates as documented in `EventSearch`. The events are counted up to the limit. Beyond it, rollups give the number
 * of events by agent, controls, time and outcome; for the rest of the filter, a sample of these events, evenly
 * distributed over their number, gives the share that matches. Units of rollups that are only partly within the range
 * count in proportion. Events before all rollups are counted up to the limit.
 */
export function createEventEstimate(options: EstimateOptions): EventSearch['estimate'] {
  const { database, now, limits = LIMITS } = options;
  const { bulk, kind } = database;
  const elements = jsonElements(kind);

  /** The number of events, or more than the limit. */
  async function countUpToLimit(conditions: readonly Prisma.Sql[]): Promise<number> {
    const [row] = await bulk.read(
      'search',
      Prisma.sql`
        SELECT COUNT(*) FROM (
          SELECT 1 FROM "events" WHERE ${allOf(conditions)} LIMIT ${limits.exact + 1}) AS "first_ones"`,
    );
    return Number(row?.[0] ?? 0);
  }

  /** Times of the first event, from `fromS` on, and of the last one, in seconds. */
  async function extent(walked: EventFilter, fromS: number): Promise<{ firstS: number; lastS: number }> {
    const where = allOfFilter({ ...walked, fromUs: BigInt(fromS) * SECOND_US });
    // Each by itself, or SQLite would read all of them.
    const [row] = await bulk.read(
      'search',
      Prisma.sql`
        SELECT (SELECT MIN("time_us") FROM "events" WHERE ${where}),
          (SELECT MAX("time_us") FROM "events" WHERE ${where})`,
    );
    const [first, last] = [row?.[0], row?.[1]].map((us) => Math.floor(Number(us ?? 0) / 1e6));
    return { firstS: first ?? 0, lastS: last ?? 0 };
  }

  /** The events of a rolled filter by unit of time, oldest first. Rollups are complete from `rolledFromS` on. */
  async function rolledMasses({ filter, count }: RolledFilter, rolledFromS: number, nowS: number) {
    const { agentName, controlIds = [], fromUs, toUs } = filter;
    const { firstS, lastS } = await extent(walkedFilter(filter), rolledFromS);
    const fromS = Math.max(secondOf(fromUs) ?? rolledFromS, rolledFromS, firstS);
    const toS = Math.min((secondOf(toUs) ?? lastS) + 1, lastS + 1);
    if (fromS >= toS) return [];
    const kept = ROLLUP_LEVELS.filter(({ keptS }) => fromS >= nowS - keptS).map(({ unitS }) => unitS);
    const finest = kept[0] ?? 1;
    // Long units are quicker to sum, short ones tell better when the events were.
    const units = kept.filter((unitS) => unitS === finest || unitS * FEWEST_UNITS <= toS - fromS);
    const segments = cover(null, floorTo(fromS, finest), floorTo(toS - 1, finest) + finest, units);
    const items = JSON.stringify(segments.map(({ unitS, fromS, toS }) => [unitS, fromS, toS]));
    const where = allOf([
      allOfFilter({ agentName, controlIds }),
      Prisma.sql`"unit_s" = CAST("item" ->> 0 AS INTEGER)`,
      Prisma.sql`"start_s" >= CAST("item" ->> 1 AS BIGINT)`,
      Prisma.sql`"start_s" < CAST("item" ->> 2 AS BIGINT)`,
    ]);
    // Both look up the segments one by one in an index, as for statistics.
    const rollups =
      kind === 'sqlite'
        ? Prisma.sql`CROSS JOIN "event_rollups" WHERE ${where}`
        : Prisma.sql`CROSS JOIN LATERAL (SELECT * FROM "event_rollups" WHERE ${where} OFFSET 0) AS "r"`;
    const rows = await bulk.read(
      'search',
      Prisma.sql`
        SELECT "start_s", "unit_s", CAST(SUM(${count}) AS BIGINT) FROM ${elements(items)} ${rollups}
        GROUP BY 1, 2 ORDER BY 1, 2`,
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

  /** The share of the events of the rolled filter that match the whole one; 1 if no event is found. */
  async function sampledShare(filter: EventFilter, rolled: RolledFilter, masses: readonly Mass[]) {
    const { fromUs } = filter;
    const walked = { ...walkedFilter(rolled.filter), fromUs };
    const [base, wide, narrow] = [walked, rolled.filter, filter].map(allOfFilter);
    const matching = (condition: Prisma.Sql | undefined) => Prisma.sql`
      (SELECT COUNT(*) FILTER (WHERE ${condition}) FROM (
        SELECT * FROM "events" WHERE ${base} AND "time_us" <= CAST("item" ->> 0 AS BIGINT)
        ORDER BY "time_us" DESC, "position" DESC LIMIT ${limits.events}) AS "sample")`;
    const places = JSON.stringify(placesIn(masses, limits.places).map((us) => [String(us)]));
    const rows = await bulk.read(
      'search',
      Prisma.sql`SELECT ${matching(wide)}, ${matching(narrow)} FROM ${elements(places)}`,
    );
    const sum = (column: number) => rows.reduce((all, row) => all + Number(row[column] ?? 0), 0);
    return sum(0) === 0 ? 1 : sum(1) / sum(0);
  }

  async function beyondLimit(filter: EventFilter): Promise<number> {
    const nowS = Math.floor(now() / 1000);
    const rolled = rolledFilter(filter);
    const [row] = await bulk.read(
      'search',
      Prisma.sql`SELECT "pruned_before_us" FROM "event_log" WHERE "id" = 1`,
    );
    // Rollups before it contain events that were pruned, or are pruned themselves.
    const rolledFromS = Math.max(
      Math.ceil(Number(row?.[0] ?? 0) / 1e6),
      nowS - Math.max(...ROLLUP_LEVELS.map(({ keptS }) => keptS)),
    );
    const rolledFromUs = BigInt(rolledFromS) * SECOND_US;
    const masses = await rolledMasses(rolled, rolledFromS, nowS);
    let events = masses.reduce((sum, mass) => sum + mass.events, 0);
    if (events > 0 && !rolled.isWhole) events *= await sampledShare(filter, rolled, masses);
    if (filter.fromUs === undefined || filter.fromUs < rolledFromUs) {
      const before = Prisma.sql`"time_us" < ${rolledFromUs}`;
      events += await countUpToLimit([allOfFilter(filter), before]);
    }
    return Math.round(events);
  }

  return async (filter): Promise<EventCount> => {
    const conditions = conditionsOf(filter);
    if (conditions === 'nothing') return { events: 0, isExact: true };
    if (conditions.length === 0) {
      const [row] = await bulk.read('search', Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`);
      return { events: Number(row?.[0] ?? 0), isExact: true };
    }
    const counted = await countUpToLimit(conditions);
    if (counted <= limits.exact) return { events: counted, isExact: true };
    return { events: Math.max(counted, await beyondLimit(filter)), isExact: false };
  };
}

/** The condition of a filter that some events may match. */
function allOfFilter(filter: EventFilter): Prisma.Sql {
  const conditions = conditionsOf(filter);
  return allOf(conditions === 'nothing' ? [] : conditions);
}

/** The part of a filter that one index has together with the time. */
function walkedFilter({ agentName, controlIds = [] }: EventFilter): EventFilter {
  if (agentName) return { agentName };
  return controlIds.length === 1 ? { controlIds } : {};
}

function secondOf(us: bigint | undefined): number | undefined {
  return us === undefined ? undefined : Math.floor(Number(us) / 1e6);
}

function floorTo(second: number, unitS: number): number {
  return Math.floor(second / unitS) * unitS;
}

/** Times, in microseconds, that divide the events into parts of the same number. */
function placesIn(masses: readonly Mass[], count: number): bigint[] {
  const total = masses.reduce((sum, { events }) => sum + events, 0);
  const places: bigint[] = [];
  let before = 0;
  for (const { fromS, toS, events } of masses) {
    while (events > 0) {
      const wanted = ((places.length + 0.5) / count) * total;
      if (places.length === count || wanted > before + events) break;
      const second = fromS + ((wanted - before) / events) * (toS - fromS);
      places.push(BigInt(Math.round(second * 1e6)));
    }
    before += events;
  }
  return places;
}
