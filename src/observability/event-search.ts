import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../database/bulk.js';
import { allOf, isStorable } from '../database/text.js';
import type { Decision, Stage } from '../evaluation/types.js';
import type { AppliesTo, ControlEvent } from './event.js';
import { facetsWhere } from './event-facets.js';
import { idKey, READ_COLUMNS, readEvent, type StoredEvent } from './event-row.js';

/** Events that are fetched at once while all of them are walked through. */
const WALK_PAGE = 1_000;

/** Filters of a search; an empty text or list, and undefined, do not filter. */
export interface EventFilter {
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly agentName?: string | undefined;
  readonly controlIds?: readonly number[];
  readonly actions?: readonly Decision[];
  readonly matched?: boolean | undefined;
  readonly stages?: readonly Stage[];
  readonly appliesTo?: readonly AppliesTo[];
  /** Both inclusive. */
  readonly fromUs?: bigint | undefined;
  readonly toUs?: bigint | undefined;
}

/** A place between two events of a search: after the one with this time and position. */
export interface EventCursor {
  readonly timeUs: bigint;
  readonly position: bigint;
}

/** What part of the events that satisfy a filter is wanted. */
export interface EventPageQuery {
  readonly limit: number;
  /** Events to skip, after the cursor if there is one. */
  readonly offset?: number;
  readonly after?: EventCursor | undefined;
}

export interface EventPage {
  readonly events: ControlEvent[];
  /** Where the next page starts; undefined when there is none. */
  readonly next: EventCursor | undefined;
}

/** Finds events, latest first; of those with the same time, the one that was stored last comes first. */
export interface EventSearch {
  page(filter: EventFilter, query: EventPageQuery): Promise<EventPage>;
  /**
   * How many events satisfy a filter, exactly. Without any filter the number is kept ready; else the database counts
   * them: along an index alone for filters by agent, control, time, action, outcome, stage and kind of step.
   */
  count(filter: EventFilter): Promise<number>;
  /** All events that satisfy a filter, page by page. Those that are stored meanwhile can be among them or not. */
  walk(filter: EventFilter): AsyncGenerator<ControlEvent[], void, void>;
}

export function createEventSearch(bulk: Pick<BulkDatabase, 'read'>): EventSearch {
  const search: EventSearch = {
    async page(filter, { limit, offset = 0, after }) {
      const conditions = conditionsOf(filter);
      if (conditions === 'nothing') return { events: [], next: undefined };
      if (after !== undefined) {
        conditions.push(Prisma.sql`("time_us", "position") < (${after.timeUs}, ${after.position})`);
      }
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT ${READ_COLUMNS} FROM "events" WHERE ${allOf(conditions)}
          ORDER BY "time_us" DESC, "position" DESC LIMIT ${limit + 1} OFFSET ${offset}`,
      );
      const found = rows.slice(0, limit).map(readEvent);
      return {
        events: found.map(({ event }) => event),
        next: rows.length > limit ? cursorAfter(found.at(-1)) : undefined,
      };
    },
    async count(filter) {
      const conditions = conditionsOf(filter);
      if (conditions === 'nothing') return 0;
      const [row] = await bulk.read(
        'search',
        conditions.length === 0
          ? Prisma.sql`SELECT "events" FROM "event_log" WHERE "id" = 1`
          : Prisma.sql`SELECT COUNT(*) FROM "events" WHERE ${allOf(conditions)}`,
      );
      return Number(row?.[0] ?? 0);
    },
    async *walk(filter) {
      let after: EventCursor | undefined;
      do {
        const { events, next } = await search.page(filter, { limit: WALK_PAGE, after });
        if (events.length > 0) yield events;
        after = next;
      } while (after !== undefined);
    },
  };
  return search;
}

function cursorAfter(last: StoredEvent | undefined): EventCursor | undefined {
  return last && { timeUs: last.event.timestamp.us, position: last.position };
}

function conditionsOf(filter: EventFilter): Prisma.Sql[] | 'nothing' {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs } = filter;
  const texts = [traceId, spanId, executionId, agentName];
  if (!texts.every((text) => text === undefined || isStorable(text))) return 'nothing';
  const ids = [...new Set(controlIds)].filter((id) => (id | 0) === id);
  if (controlIds.length > 0 && ids.length === 0) return 'nothing';
  const conditions: Prisma.Sql[] = [];
  if (executionId) conditions.push(Prisma.sql`"control_execution_id" = ${executionId}`);
  if (traceId) conditions.push(Prisma.sql`"trace_key" = ${idKey(traceId)} AND "trace_id" = ${traceId}`);
  if (spanId) {
    // Rows that are older than the key have none.
    conditions.push(
      Prisma.sql`("span_key" = ${idKey(spanId)} OR "span_key" IS NULL) AND "span_id" = ${spanId}`,
    );
  }
  if (agentName) conditions.push(Prisma.sql`"agent_name" = ${agentName}`);
  if (ids.length > 0) conditions.push(Prisma.sql`"control_id" IN (${Prisma.join(ids)})`);
  const facets = wantedFacets(filter);
  if (facets?.length === 0) return 'nothing';
  if (facets !== undefined) conditions.push(Prisma.sql`"facets" IN (${Prisma.join(facets)})`);
  if (fromUs !== undefined) conditions.push(Prisma.sql`"time_us" >= ${fromUs}`);
  if (toUs !== undefined) conditions.push(Prisma.sql`"time_us" <= ${toUs}`);
  return conditions;
}

function wantedFacets({
  actions = [],
  matched,
  stages = [],
  appliesTo = [],
}: EventFilter): number[] | undefined {
  const passes = <T>(wanted: readonly T[], value: T) => wanted.length === 0 || wanted.includes(value);
  return facetsWhere(
    (one) =>
      (matched === undefined || one.matched === matched) &&
      passes(actions, one.action) &&
      passes(stages, one.check_stage) &&
      passes(appliesTo, one.applies_to),
  );
}
