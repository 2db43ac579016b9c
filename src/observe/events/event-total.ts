import type { EventFilter } from './store/event-filter.js';
import type { EventSearch } from './store/event-search.js';

/** How the events of a search are counted, or were: see TotalKind of the proto files. */
export const TOTAL_KINDS = ['exact', 'estimate', 'none'] as const;
export type TotalKind = (typeof TOTAL_KINDS)[number];

/** The members of a reply about the number of matching events. */
export interface EventTotal {
  /** 0 if they are not counted: the JSON type of the member must not change. */
  readonly total: number;
  readonly total_kind: TotalKind;
}

/** Counts the events that match a filter as wanted. An estimate that is known to be exact is reported as exact. */
export async function totalOf(
  search: Pick<EventSearch, 'count' | 'estimate'>,
  filter: EventFilter,
  wanted: TotalKind = 'exact',
): Promise<EventTotal> {
  switch (wanted) {
    case 'none':
      return { total: 0, total_kind: 'none' };
    case 'exact':
      return { total: await search.count(filter), total_kind: 'exact' };
    case 'estimate': {
      const { events, isExact } = await search.estimate(filter);
      return { total: events, total_kind: isExact ? 'exact' : 'estimate' };
    }
  }
}
