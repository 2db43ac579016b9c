/** Milliseconds between two log lines about refused events; what is refused between them is counted. */
const LOG_INTERVAL_MS = 60_000;

export interface RefusedEventsOptions {
  readonly log: { warn(facts: object, message: string): void };
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** Told of events that the database can never hold; `error` says why when the database itself refused them. */
export type RefusedEvents = (count: number, error?: unknown) => void;

/**
 * Logs refused events: the first at once, later ones as a count, so that a client that goes on sending them does not
 * fill the log.
 */
export function createRefusedEvents({ log, now }: RefusedEventsOptions): RefusedEvents {
  let lastMs = Number.NEGATIVE_INFINITY;
  let events = 0;
  let calls = 0;
  return (count, error) => {
    events += count;
    calls += 1;
    if (now() - lastMs < LOG_INTERVAL_MS) return;
    log.warn(
      { events, calls, ...(error === undefined ? {} : { err: error }) },
      'events were dropped because the database can never hold them',
    );
    lastMs = now();
    events = 0;
    calls = 0;
  };
}
