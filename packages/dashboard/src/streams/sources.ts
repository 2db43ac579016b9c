import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import {
  AgentService,
  WatchControlsRequestSchema,
  WatchControlsResponseSchema,
} from '@gen/enforcement/v1/agent_service_pb.js';
import {
  ObservabilityService,
  WatchEventsRequestSchema,
  WatchEventsResponseSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { transport } from '../data/transport.js';
import type { StreamSource } from './stream-source.js';

export const EVENTS = 'events';
export const CONTROLS = 'controls';

const observability = createClient(ObservabilityService, transport);
const agents = createClient(AgentService, transport);

const events: StreamSource = {
  isJoinable: true,
  async *open(bytes, after, signal) {
    const request = create(WatchEventsRequestSchema, {
      ...fromBinary(WatchEventsRequestSchema, bytes),
      ...(after === undefined ? {} : { afterPosition: after }),
    });
    for await (const message of observability.watchEvents(request, { signal })) {
      yield {
        position: message.position,
        bytes: toBinary(WatchEventsResponseSchema, message),
        isWhole: true,
        isCaughtUp: message.news.case === 'heartbeat',
      };
    }
  },
};

const controls: StreamSource = {
  isJoinable: false,
  async *open(bytes, after, signal) {
    const request = create(WatchControlsRequestSchema, {
      ...fromBinary(WatchControlsRequestSchema, bytes),
      // At 0, a message with all controls was not complete.
      ...(after === undefined || after === 0n ? {} : { fromRevision: after }),
    });
    for await (const message of agents.watchControls(request, { signal })) {
      yield {
        position: message.revision,
        bytes: toBinary(WatchControlsResponseSchema, message),
        isWhole: !message.incomplete,
        isCaughtUp: !message.incomplete,
      };
    }
  },
};

/** The streams that tabs can share, by name. */
export const SOURCES: ReadonlyMap<string, StreamSource> = new Map([
  [EVENTS, events],
  [CONTROLS, controls],
]);
