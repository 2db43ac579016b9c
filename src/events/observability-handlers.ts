import { z } from 'zod';
import type { ObservabilityService as ObservabilityServiceDesc } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import {
  bulkHandler,
  collectHandler,
  exchangeHandler,
  type Handler,
  type HandlersOf,
  handler,
  streamHandler,
} from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import type { ExportEvents } from './event-export.js';
import { refuseUnknownFilters } from './event-filter.js';
import { createEventSchemas } from './event-schemas.js';
import type { WatchEvents } from './event-watch.js';
import type { IngestStream } from './ingest-stream.js';
import type { ObservabilityService } from './observability-service.js';
import type { PublishStream } from './publish-stream.js';

type Handlers = HandlersOf<typeof ObservabilityServiceDesc>;

/** Implementations of the streaming RPCs. */
export interface EventStreams {
  readonly ingest: IngestStream;
  readonly publish: PublishStream;
  readonly export: ExportEvents;
  readonly watch: WatchEvents;
}

/** The RPCs of ObservabilityService. */
export function observabilityHandlers(
  service: ObservabilityService,
  streams: EventStreams,
  now: () => number,
): Handlers {
  const schemas = createEventSchemas(now);
  return {
    createEvents: bulkHandler(schemas.createEvents, ({ events }) => service.create(events)),
    ingestEvents: collectHandler(schemas.ingestEvents, streams.ingest),
    publishEvents: exchangeHandler(schemas.publishEvents, streams.publish),
    flushEvents: handler(schemas.flushEvents, async () => ({ stored: await service.flush() })),
    queryEvents: handler(schemas.queryEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return service.query(input);
    }),
    exportEvents: streamHandler(schemas.exportEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return streams.export(input);
    }),
    watchEvents: streamHandler(schemas.watchEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return streams.watch(input, context);
    }),
    getStats: handler(schemas.getStats, (input) => service.stats(input)),
    getControlStats: handler(schemas.getControlStats, (input) => service.controlStats(input)),
    getStatsOverview: handler(schemas.getStatsOverview, (input) => service.overview(input)),
    getObservabilityStatus: handler(schemas.getObservabilityStatus, () => status(true)),
  };
}

/** The same RPCs when observability is off. Callers receive this error before any about the input. */
export function observabilityOffHandlers(): Handlers {
  return {
    createEvents: off,
    ingestEvents: collectHandler(z.unknown(), async () => refuse()),
    publishEvents: exchangeHandler(z.unknown(), refuse),
    flushEvents: off,
    queryEvents: off,
    exportEvents: streamHandler(refused, refuse),
    watchEvents: streamHandler(refused, refuse),
    getStats: off,
    getControlStats: off,
    getStatsOverview: off,
    getObservabilityStatus: handler(z.object({}), () => status(false)),
  };
}

const refuse = (): never => {
  throw observabilityOff();
};
const refused = z.unknown().transform(refuse);
const off: Handler = handler(refused, refuse);

function status(initialized: boolean): object {
  return { status: 'ok', ingestor_initialized: initialized, store_initialized: initialized };
}

/** The event store is disabled. This lasts until the service is restarted, so there is no retry time. */
export function observabilityOff(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: 'Observability is switched off: events are neither stored nor counted.',
    hint: 'Start the service with SERVICE_OBSERVABILITY_ENABLED=true.',
  });
}
