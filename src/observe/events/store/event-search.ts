import type { ControlEvent } from './event.js';
import type { EventFilter } from './event-filter.js';

/** A position between two events of a search: after the one with this time and position. */
export interface EventCursor {
  readonly timeUs: bigint;
  readonly position: bigint;
}

/** The requested part of the events that match a filter. */
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

/** A number of events, or an estimate of it. */
export interface EventCount {
  readonly events: number;
  readonly isExact: boolean;
}

/** Up to this number of events, an estimate is exact. */
export const EXACT_ESTIMATES = 10_000;

/** Finds events, latest first; of those with the same time, the last stored comes first. */
export interface EventSearch {
  page(filter: EventFilter, query: EventPageQuery): Promise<EventPage>;
  /**
   * Exact number of events that match a filter. The total without a filter is maintained; otherwise the
   * database counts them: from an index alone for filters by agent, control, time, action, outcome, stage and
   * kind of step.
   */
  count(filter: EventFilter): Promise<number>;
  /**
   * Number of events that match a filter: exact up to EXACT_ESTIMATES, otherwise an estimate above it, whose cost does
   * not grow with the number of matching events. A store that counts fast enough may always be exact.
   */
  estimate(filter: EventFilter): Promise<EventCount>;
  /**
   * All events that match a filter, part by part, of which only one is in memory. Events that are stored,
   * deleted or get another time meanwhile may or may not be included.
   */
  walk(filter: EventFilter): AsyncGenerator<ControlEvent[], void, void>;
}
