import { create, toBinary } from '@bufbuild/protobuf';
import {
  QueryEventsRequestSchema,
  WatchEventsRequestSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';
import type { EventFilter } from '../events/event-filter.js';

/** The request of a stream for a filter, in its binary form. Events that are stored from now on have no time range. */
export function watchRequest(wanted: EventFilter): Uint8Array {
  const query = create(QueryEventsRequestSchema, wanted);
  const { $typeName, startTime, endTime, limit, offset, cursor, includeStep, includeBuffered, ...filter } =
    query;
  return toBinary(WatchEventsRequestSchema, create(WatchEventsRequestSchema, filter));
}
