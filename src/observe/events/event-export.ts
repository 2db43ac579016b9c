import { unavailable } from '../../storage/database/errors.js';
import type { Scoped } from './observability-service.js';
import { shownEvent } from './store/event.js';
import type { EventSearch } from './store/event-search.js';

/** Concurrent exports. Each holds about a megabyte of events, however slowly it is read. */
const MAX_EXPORTS = 100;

/** Implements ExportEvents. */
export type ExportEvents = (input: Scoped<'exportEvents'>) => AsyncGenerator<object>;

/** Creates streams of all events that match a filter. The next part is read once the previous one is sent. */
export function createExportEvents(
  search: Pick<EventSearch, 'walk'>,
  maxExports = MAX_EXPORTS,
): ExportEvents {
  let running = 0;
  return async function* exportEvents(input) {
    if (running >= maxExports) throw unavailable('Too many exports are under way.');
    running += 1;
    try {
      for await (const events of search.walk(input)) {
        for (const event of events) yield { event: shownEvent(event) };
      }
    } finally {
      running -= 1;
    }
  };
}
