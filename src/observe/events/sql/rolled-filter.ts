import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { type EventFilter, filterKey } from '../store/event-filter.js';

/** The part of a filter that rollups can count. */
export interface RolledFilter {
  /** Only namespace, agent, controls, time and, if rollups count them, outcomes. */
  readonly filter: EventFilter;
  /** The number of its events in one rollup. */
  readonly count: Prisma.Sql;
  /** Whether it is the whole filter. */
  readonly isWhole: boolean;
}

const MATCHED = '"denies" + "steers" + "observes"';
const COLUMNS = { deny: 'denies', steer: 'steers', observe: 'observes' } as const;

/** What rollups know of the events that match a filter. */
export function rolledFilter(filter: EventFilter): RolledFilter {
  const { namespace, agent_name, control_ids, start_time, end_time, actions, matched, has_error } = filter;
  const place = { namespace, agent_name, control_ids, start_time, end_time };
  const count = countOf(filter);
  const rolled = count === undefined ? place : { ...place, actions, matched, has_error };
  return {
    filter: rolled,
    count: Prisma.raw(count ?? '"executions"'),
    isWhole: filterKey(rolled) === filterKey(filter),
  };
}

/** The part of a filter that one index has together with the time. */
export function walkedFilter({ namespace, agent_name, control_ids = [] }: EventFilter): EventFilter {
  if (agent_name) return { namespace, agent_name };
  return control_ids.length === 1 ? { namespace, control_ids } : { namespace };
}

/** Undefined for outcomes that are not summed by themselves. */
function countOf({ actions = [], matched, has_error: hasError }: EventFilter): string | undefined {
  if (actions.length > 0) {
    if (matched !== true || hasError !== undefined) return undefined;
    return [...new Set(actions)].map((action) => `"${COLUMNS[action]}"`).join(' + ');
  }
  if (matched === undefined) {
    if (hasError === undefined) return '"executions"';
    return hasError ? '"errors"' : '"executions" - "errors"';
  }
  if (hasError === undefined) return matched ? MATCHED : `"executions" - (${MATCHED})`;
  if (!hasError) return matched ? '"matches"' : '"non_matches"';
  return matched ? `${MATCHED} - "matches"` : `"errors" - (${MATCHED} - "matches")`;
}
