import { createObservability, type Observability } from '../../observe/events/observability.js';
import { createEventSinks } from '../../observe/events/sinks/event-sinks.js';
import { createEventReaders } from '../../serve/event-reading/event-readers.js';
import { createServiceEventStore } from './event-store.js';
import type { Foundations } from './foundations.js';
import type { Programs } from './programs.js';

type EventStore = Awaited<ReturnType<typeof createServiceEventStore>>;

/** The store of events, and what writes to it and reads it. */
export interface EventParts {
  readonly store: EventStore;
  readonly observability: Observability;
}

/** Rejects when files that it needs cannot be created. */
export async function createEventParts(foundations: Foundations, { watch }: Programs): Promise<EventParts> {
  const { config, log, parts, failures, database, metrics, packages, threadEntries, now, monotonic } =
    foundations;
  const shared = { database, log, failures, now, monotonic };
  const { observability } = config;
  const store = await createServiceEventStore({
    config: observability,
    database,
    failures,
    meter: metrics.events,
    now,
    load: packages['events-clickhouse'],
  });
  parts.add({ close: () => store.close() });
  parts.add(
    await createEventSinks({
      ...shared,
      config: config.eventSinks,
      tail: store.tail,
      meter: metrics.eventSinks,
    }),
  );
  const eventReaders = createEventReaders({
    store,
    duplicates: config.duplicateMembers,
    threads: observability.enabled ? observability.readerThreads : 0,
    failures,
    now,
    entry: threadEntries.eventReader,
  });
  parts.add({ close: () => eventReaders?.close() });
  const created = await createObservability({
    ...shared,
    config: observability,
    store,
    readers: eventReaders?.readers,
    meter: metrics.events,
    countMeter: metrics.evaluationCounts,
  });
  const { start, drain, close } = created;
  parts.add({
    async start() {
      const prepared = start();
      // Without its database the process serves what it knows.
      if (!watch.isBlind) await prepared;
    },
    drain,
    close,
  });
  return { store, observability: created };
}
