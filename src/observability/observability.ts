import type { ObservabilityService as ObservabilityServiceDesc } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { Config } from '../config.js';
import type { Database } from '../database/database.js';
import type { HandlersOf } from '../rpc/handler.js';
import { createIngest } from './event-ingest.js';
import { createEventPruner, type EventPruner } from './event-pruner.js';
import { createEventWriter } from './event-writer.js';
import { observabilityHandlers, observabilityOffHandlers } from './observability-handlers.js';
import type { ObservabilityMeter } from './observability-meter.js';
import { createObservabilityService } from './observability-service.js';
import { createRecorder, type Recorder } from './recorder.js';

export interface ObservabilityParts {
  readonly config: Config['observability'];
  readonly database: Database;
  readonly log: Record<'info' | 'warn' | 'error', (facts: object, message: string) => void>;
  readonly meter: ObservabilityMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Observability as the configuration wants it. */
export interface Observability {
  readonly handlers: HandlersOf<typeof ObservabilityServiceDesc>;
  /** Undefined when the service records nothing itself. */
  readonly recorder: Recorder | undefined;
  /** Undefined when the event store is switched off. */
  readonly pruner: EventPruner | undefined;
}

export function createObservability({
  config,
  database,
  log,
  meter,
  now,
}: ObservabilityParts): Observability {
  if (!config.enabled)
    return { handlers: observabilityOffHandlers(), recorder: undefined, pruner: undefined };
  const ingest = createIngest({
    write: createEventWriter({ database, now }),
    log,
    logEvents: config.stdout,
    meter,
  });
  const service = createObservabilityService({ database, ingest, log, now });
  const pruner = createEventPruner({ database, retentionDays: config.retentionDays, log, meter, now });
  const recorder = createRecorder({
    ingest,
    nonMatches: config.record === 'all',
    flushIntervalMs: config.flushIntervalSeconds * 1000,
    meter,
    log,
    now,
  });
  return {
    handlers: observabilityHandlers(service, now),
    recorder: config.record === 'none' ? undefined : recorder,
    pruner,
  };
}
