import { create, toBinary } from '@bufbuild/protobuf';
import {
  QueryEventsRequestSchema,
  WatchEventsRequestSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { eventFilter } from '../events/event-filter.js';

/** The request of a stream for the filters of an address, in its binary form. Live events have no time range. */
export function watchRequest(filters: URLSearchParams): Uint8Array {
  const query = create(QueryEventsRequestSchema, eventFilter(filters));
  const { $typeName, startTime, endTime, limit, offset, cursor, includeStep, includeBuffered, ...filter } =
    query;
  return toBinary(WatchEventsRequestSchema, create(WatchEventsRequestSchema, filter));
}
