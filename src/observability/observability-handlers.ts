import { z } from 'zod';
import type { ObservabilityService as ObservabilityServiceDesc } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type Handler, type HandlersOf, handler } from '../rpc/handler.js';
import { createEventSchemas } from './event-schemas.js';
import { observabilityOff } from './observability-errors.js';
import type { ObservabilityService } from './observability-service.js';

type Handlers = HandlersOf<typeof ObservabilityServiceDesc>;

/** The RPCs of ObservabilityService. */
export function observabilityHandlers(service: ObservabilityService, now: () => number): Handlers {
  const schemas = createEventSchemas(now);
  return {
    createEvents: handler(schemas.createEvents, ({ events }) => service.create(events)),
    queryEvents: handler(schemas.queryEvents, (input) => service.query(input)),
    getStats: handler(schemas.getStats, (input) => service.stats(input)),
    getControlStats: handler(schemas.getControlStats, (input) => service.controlStats(input)),
    getStatsOverview: handler(schemas.getStatsOverview, (input) => service.overview(input)),
    getObservabilityStatus: handler(schemas.getObservabilityStatus, () => status(true)),
  };
}

/** The same RPCs when observability is off. Whoever calls them learns that before anything about the input. */
export function observabilityOffHandlers(): Handlers {
  return {
    createEvents: off,
    queryEvents: off,
    getStats: off,
    getControlStats: off,
    getStatsOverview: off,
    getObservabilityStatus: handler(z.object({}), () => status(false)),
  };
}

const refuse = (): never => {
  throw observabilityOff();
};
const off: Handler = handler(z.unknown().transform(refuse), refuse);

function status(initialized: boolean): object {
  return { status: 'ok', ingestor_initialized: initialized, store_initialized: initialized };
}
