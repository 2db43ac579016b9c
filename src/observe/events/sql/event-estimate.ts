import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../../storage/database/database.js';
import { jsonElements } from '../../../storage/database/json-elements.js';
import { allOf } from '../../../storage/database/text.js';
import type { EventFilter } from '../store/event-filter.js';
import { type EventCount, type EventSearch, EXACT_ESTIMATES } from '../store/event-search.js';
import { countEvents, isWhole } from './count-events.js';
import { conditionOf } from './event-conditions.js';
import { createNamespaceCounts, HAS_OTHERS } from './namespace-events.js';
import { type RolledFilter, rolledFilter, walkedFilter } from './rolled-filter.js';
import { createRolledMasses, type Mass } from './rolled-masses.js';
import { ALL_EVENTS } from './segment-tables.js';

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

export interface EstimateOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: EstimateLimits;
}

/**
 * Estimates as documented in `EventSearch`. The events are counted up to the limit. Beyond it, rollups give the number
 * of events by agent, controls, time and outcome; for the rest of the filter, a sample of these events, evenly
 * distributed over their number, gives the share that matches. Units of rollups that are only partly within the range
 * count in proportion. Events before all rollups are counted up to the limit.
 */
export function createEventEstimate(options: EstimateOptions): EventSearch['estimate'] {
  const { database, limits = LIMITS } = options;
  const { bulk, kind } = database;
  const elements = jsonElements(kind);
  const rolledMasses = createRolledMasses(options);
  const namespaces = createNamespaceCounts();

  /** The number of events, or more than the limit. */
  async function countUpToLimit(filter: EventFilter, more: readonly Prisma.Sql[] = []): Promise<number> {
    return namespaces.count(filter, async (conditions) => {
      const [row] = await bulk.read(
        'search',
        Prisma.sql`
          SELECT COUNT(*), ${HAS_OTHERS} FROM (
            SELECT 1 FROM ${ALL_EVENTS} WHERE ${allOf([...conditions, ...more])}
            LIMIT ${limits.exact + 1}) AS "first_ones"`,
      );
      return [Number(row?.[0] ?? 0), Number(row?.[1] ?? 0)];
    });
  }

  /** The share of the events of the rolled filter that match the whole one; 1 if no event is found. */
  async function sampledShare(filter: EventFilter, rolled: RolledFilter, masses: readonly Mass[]) {
    const walked = { ...walkedFilter(rolled.filter), start_time: filter.start_time };
    const [base, wide, narrow] = [walked, rolled.filter, filter].map(conditionOf);
    const matching = (condition: Prisma.Sql | undefined) => Prisma.sql`
      (SELECT COUNT(*) FILTER (WHERE ${condition}) FROM (
        SELECT * FROM ${ALL_EVENTS} WHERE ${base} AND "time_us" <= CAST("item" ->> 0 AS BIGINT)
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
    const rolled = rolledFilter(filter);
    const { fromUs, masses } = await rolledMasses(rolled);
    let events = masses.reduce((sum, mass) => sum + mass.events, 0);
    if (events > 0 && !rolled.isWhole) events *= await sampledShare(filter, rolled, masses);
    if (filter.start_time === undefined || filter.start_time.us < fromUs) {
      events += await countUpToLimit(filter, [Prisma.sql`"time_us" < ${fromUs}`]);
    }
    return Math.round(events);
  }

  return async (filter): Promise<EventCount> => {
    if (isWhole(filter)) return { events: await countEvents(bulk, filter), isExact: true };
    const counted = await countUpToLimit(filter);
    if (counted <= limits.exact) return { events: counted, isExact: true };
    return { events: Math.max(counted, await beyondLimit(filter)), isExact: false };
  };
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
