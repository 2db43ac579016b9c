import type { Config } from '../../contract/config/config.js';
import type { FactsLog, RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import type { CountMeter } from './counts/count-meter.js';
import { createEvaluationCounts, type EvaluationCounts } from './counts/evaluation-counts.js';
import { createExportEvents } from './event-export.js';
import { EventFeed } from './event-feed.js';
import { createIngest } from './event-ingest.js';
import { createEventPruner } from './event-pruner.js';
import { createWatchEvents } from './event-watch.js';
import { createIngestStream } from './ingest-stream.js';
import {
  type EventHandlers,
  type EventReaders,
  observabilityHandlers,
  observabilityOffHandlers,
} from './observability-handlers.js';
import type { ObservabilityMeter } from './observability-meter.js';
import { createObservabilityService } from './observability-service.js';
import { createPublishStream } from './publish-stream.js';
import { encodeInTurns } from './read-events.js';
import { createRecorder, type Recorder } from './recorder.js';
import { createReportedControls } from './reported-controls.js';
import type { EventStore } from './store/event-store.js';
import { createStreamStore } from './stream-store.js';

export interface ObservabilityParts {
  readonly config: Omit<Config['observability'], 'readerThreads'>;
  readonly store: EventStore;
  /** The database of the controls. */
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  readonly log: FactsLog<'info' | 'warn' | 'error'>;
  /** For failures that recur while the database is unreachable. */
  readonly failures: RepeatLog;
  readonly meter: ObservabilityMeter;
  readonly countMeter: CountMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  /** Undefined when all messages are read in the thread that serves requests. */
  readonly readers?: EventReaders | undefined;
}

/** Observability as configured. */
export interface Observability {
  readonly handlers: EventHandlers;
  /** Undefined when the service itself records nothing. */
  readonly recorder: Recorder | undefined;
  /** Undefined when the event store is disabled. */
  readonly counts: EvaluationCounts | undefined;
  /** Begins to write and to prune, and resolves when the event store is prepared. */
  start(): Promise<void>;
  /** Ends the endless streams. */
  drain(): void;
  /** Writes what waits, and nothing after that. Never rejects. */
  close(): Promise<void>;
}

/** Rejects when files that it needs cannot be created. */
export async function createObservability({
  config,
  store,
  database,
  log,
  failures,
  meter,
  countMeter,
  now,
  monotonic,
  readers,
}: ObservabilityParts): Promise<Observability> {
  if (!config.enabled) {
    const handlers = observabilityOffHandlers();
    return {
      handlers,
      recorder: undefined,
      counts: undefined,
      start: async () => {},
      drain: () => {},
      close: async () => {},
    };
  }
  const { search, tail, retention } = store;
  const counts = await createEvaluationCounts({
    config,
    database,
    log,
    failures,
    meter: countMeter,
    now,
    monotonic,
  });
  const feed = new EventFeed({
    tail,
    now: monotonic,
    log,
    storeRecorded() {
      void recorder?.flushSoon();
      void counts.flushSoon();
    },
  });
  const ingest = createIngest({
    store: {
      ...store,
      async write(events) {
        await store.write(events);
        feed.committed();
      },
    },
    log,
    logEvents: config.stdout,
    meter,
  });
  const created = createRecorder({
    ingest: async (events) => ingest(await encodeInTurns(events, store.encode)),
    nonMatches: config.record === 'all',
    flushIntervalMs: config.flushIntervalSeconds * 1000,
    meter,
    log,
    failures,
    now,
  });
  const recorder = config.record === 'none' ? undefined : created;
  const service = createObservabilityService({ store, ingest, meter, failures, recorder, counts, now });
  const streamStore = createStreamStore({ ingest, meter, failures });
  const streams = {
    ingest: createIngestStream(streamStore),
    publish: createPublishStream(streamStore),
    export: createExportEvents(search),
    watch: createWatchEvents({ feed, tail, now: monotonic }),
  };
  const reported = createReportedControls({ bulk: database.bulk, encode: store.encode, failures });
  const pruner = createEventPruner({
    retention,
    retentionDays: config.retentionDays,
    log,
    failures,
    meter,
    now,
  });
  return {
    handlers: observabilityHandlers(service, streams, {
      encode: store.encode,
      now,
      readers,
      reported,
    }),
    recorder,
    counts,
    async start() {
      for (const part of [recorder, counts, pruner]) part?.start();
      await store.start?.(failures);
    },
    drain: () => feed.close(),
    async close() {
      for (const part of [counts, recorder, pruner]) await part?.close();
    },
  };
}
