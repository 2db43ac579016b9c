import { createMutex } from '../../../storage/database/mutex.js';
import type { ControlEvent } from './event.js';
import type { EventCursor, EventPage } from './event-search.js';
import type { StoredEvent } from './event-tail.js';

/** Events in the order of a search, and where to continue; undefined when there are none after them. */
export interface SearchPart<Event extends StoredEvent = StoredEvent> {
  readonly events: readonly Event[];
  readonly after: EventCursor | undefined;
}

/** Reads the part after a cursor. */
export type ReadSearchPart = (after: EventCursor | undefined) => Promise<SearchPart>;

/** Walks through searches. They read one part at a time, so that many walks leave connections to other work. */
export function createWalks(): (readPart: ReadSearchPart) => AsyncGenerator<ControlEvent[], void, void> {
  const reading = createMutex();
  return async function* walk(readPart) {
    let after: EventCursor | undefined;
    do {
      const release = await reading.acquire();
      const part = await readPart(after).finally(release);
      after = part.after;
      if (part.events.length > 0) yield part.events.map(({ event }) => event);
    } while (after !== undefined);
  };
}

/** The page that begins with some events: with one more than its limit, another page follows. */
export function pageOf(found: readonly StoredEvent[], limit: number): EventPage {
  const shown = found.slice(0, limit);
  return {
    events: shown.map(({ event }) => event),
    next: found.length > limit ? cursorAfter(shown.at(-1)) : undefined,
  };
}

export function cursorAfter(last: StoredEvent | undefined): EventCursor | undefined {
  return last && { timeUs: last.event.timestamp.us, position: last.position };
}
