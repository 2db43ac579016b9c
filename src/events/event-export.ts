import { unavailable } from '../database/errors.js';
import { shownEvent } from './event.js';
import { filterOf } from './event-filter.js';
import type { ObservabilityInputs } from './event-schemas.js';
import type { EventSearch } from './event-search.js';

/** Exports at the same time. Each holds about a megabyte of events, however slowly it is read. */
const MAX_EXPORTS = 100;

/** Answers ExportEvents. */
export type ExportEvents = (input: ObservabilityInputs['exportEvents']) => AsyncGenerator<object>;

/** Makes streams of all events that satisfy a filter. The next part is read when the one before it is on its way. */
export function createExportEvents(
  search: Pick<EventSearch, 'walk'>,
  maxExports = MAX_EXPORTS,
): ExportEvents {
  let running = 0;
  return async function* exportEvents(input) {
    if (running >= maxExports) throw unavailable('Too many exports are under way.');
    running += 1;
    try {
      for await (const events of search.walk(filterOf(input))) {
        for (const event of events) yield { event: shownEvent(event) };
      }
    } finally {
      running -= 1;
    }
  };
}
