import type { Database } from '../database/database.js';
import { type ControlEvent, shownEvent } from './event.js';
import { createEventStore } from './event-store.js';

/** Commits events to the database. Rejects with a ServiceError, and then none of them is known to be stored. */
export type Ingest = (events: readonly ControlEvent[]) => Promise<void>;

export interface IngestOptions {
  readonly database: Pick<Database, 'write'>;
  readonly log: { info(facts: object, message: string): void };
  /** Whether each event is logged. */
  readonly logEvents: boolean;
}

/** The one way into the event store, for what clients report and for what the service records itself. */
export function createIngest({ database, log, logEvents }: IngestOptions): Ingest {
  return async (events) => {
    await database.write((tx) => createEventStore(tx).insert(events));
    if (!logEvents) return;
    for (const event of events) log.info({ event: shownEvent(event) }, 'an event was ingested');
  };
}
