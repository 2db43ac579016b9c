import { z } from 'zod';
import type { ObservabilityService as ObservabilityServiceDesc } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import {
  bulkHandler,
  type CallContext,
  collectHandler,
  exchangeHandler,
  type Handler,
  type HandlersOf,
  handler,
  type MessageReader,
  streamHandler,
} from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { ExportEvents } from './event-export.js';
import { createEventSchemas } from './event-schemas.js';
import type { WatchEvents } from './event-watch.js';
import type { IngestStream } from './ingest-stream.js';
import type { ObservabilityService } from './observability-service.js';
import type { PublishStream } from './publish-stream.js';
import { type EventMessage, encodedEvents, keyedEvents, type ReadEvents } from './read-events.js';
import type { ReportedControls } from './reported-controls.js';
import { refuseUnknownFilters } from './store/event-filter.js';
import type { EventCodec } from './store/event-store.js';

/** Those of ObservabilityService but the ones about false positives. */
export type EventHandlers = Omit<
  HandlersOf<typeof ObservabilityServiceDesc>,
  'markFalsePositive' | 'unmarkFalsePositive' | 'listFalsePositives'
>;

/** Implementations of the streaming RPCs. */
export interface EventStreams {
  readonly ingest: IngestStream;
  readonly publish: PublishStream;
  readonly export: ExportEvents;
  readonly watch: WatchEvents;
}

/** How messages with events are read. */
export interface EventReading {
  readonly encode: EventCodec['encode'];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Undefined when all messages are read in the thread that serves requests. */
  readonly readers?: EventReaders | undefined;
  /** Leaves out the events that a caller may not report. */
  readonly reported: ReportedControls;
}

/** The RPCs that store events. */
export type EventRpc = 'createEvents' | 'ingestEvents' | 'publishEvents';

/** The readers of large messages with events, by RPC. */
export type EventReaders = (rpc: EventRpc) => MessageReader<ReadEvents>;

async function* each<From, To>(
  source: AsyncIterable<From>,
  map: (value: From) => To | Promise<To>,
): AsyncGenerator<To> {
  for await (const value of source) yield await map(value);
}

/** The RPCs of ObservabilityService that are about events themselves. */
export function observabilityHandlers(
  service: ObservabilityService,
  streams: EventStreams,
  { encode, now, readers, reported }: EventReading,
): EventHandlers {
  const schemas = createEventSchemas(now);
  const reading = (context: CallContext) => async (message: EventMessage) => {
    const { principal } = context;
    const read = encodedEvents(message, encode, now());
    service.noticeClock(read);
    const own = await reported(read, principal);
    return keyedEvents(own, principal.namespace, encode);
  };
  /** The filter of a request, for the events of its caller's namespace alone. */
  const scoped = <Input extends object>(input: Input, { principal: { namespace } }: CallContext) => ({
    ...input,
    namespace,
  });
  return {
    createEvents: bulkHandler(
      schemas.createEvents,
      async (message: EventMessage, context) => service.create(await reading(context)(message)),
      readers?.('createEvents'),
    ),
    ingestEvents: collectHandler(
      schemas.ingestEvents,
      (messages: AsyncIterable<EventMessage>, context) =>
        streams.ingest(each(messages, reading(context)), context),
      readers?.('ingestEvents'),
    ),
    publishEvents: exchangeHandler(
      schemas.publishEvents,
      (messages: AsyncIterable<EventMessage>, context) =>
        streams.publish(each(messages, reading(context)), context),
      readers?.('publishEvents'),
    ),
    flushEvents: handler(schemas.flushEvents, async (_, { principal: { namespace } }) => ({
      stored: await service.flush(namespace),
    })),
    queryEvents: handler(schemas.queryEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return service.query(scoped(input, context));
    }),
    exportEvents: streamHandler(schemas.exportEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return streams.export(scoped(input, context));
    }),
    watchEvents: streamHandler(schemas.watchEvents, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return streams.watch(scoped(input, context), context);
    }),
    getStats: handler(schemas.getStats, (input, context) => service.stats(scoped(input, context))),
    getControlStats: handler(schemas.getControlStats, (input, context) =>
      service.controlStats(scoped(input, context)),
    ),
    getStatsOverview: handler(schemas.getStatsOverview, (input, context) =>
      service.overview(scoped(input, context)),
    ),
    getEvaluationStats: handler(schemas.getEvaluationStats, (input, context) =>
      service.evaluationStats(scoped(input, context)),
    ),
    getObservabilityStatus: handler(schemas.getObservabilityStatus, () => status(true)),
  };
}

/** The same RPCs when observability is off. Callers receive this error before any about the input. */
export function observabilityOffHandlers(): EventHandlers {
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
    getEvaluationStats: off,
    getObservabilityStatus: handler(z.object({}), () => status(false)),
  };
}

const refuse = (): never => {
  throw observabilityOff();
};
const refused = z.unknown().transform(refuse);
/** An RPC while events are not stored. */
export const off: Handler = handler(refused, refuse);

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
