import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import {
  AgentService,
  WatchControlsRequestSchema,
  WatchControlsResponseSchema,
} from '@gen/enforcement/v1/agent_service_pb.js';
import { ApprovalService, WatchApprovalsRequestSchema } from '@gen/enforcement/v1/approval_service_pb.js';
import {
  ObservabilityService,
  WatchEventsRequestSchema,
  WatchEventsResponseSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { transport } from '../data/transport.js';
import type { StreamSource } from './stream-source.js';

export const EVENTS = 'events';
export const CONTROLS = 'controls';
export const APPROVALS = 'approvals';

const observability = createClient(ObservabilityService, transport);
const agents = createClient(AgentService, transport);
const approvalService = createClient(ApprovalService, transport);

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

/**
 * That approvals have changed, without saying which: lists and pages read what they show again. Those that are pending when the
 * stream begins are not told one by one.
 */
const approvals: StreamSource = {
  isJoinable: true,
  async *open(bytes, _after, signal) {
    let isCaughtUp = false;
    const request = fromBinary(WatchApprovalsRequestSchema, bytes);
    for await (const { news } of approvalService.watchApprovals(request, { signal })) {
      isCaughtUp ||= news.case === 'heartbeat';
      if (isCaughtUp) yield { position: 0n, bytes: new Uint8Array(0), isWhole: true, isCaughtUp };
    }
  },
};

/** The streams that tabs can share, by name. */
export const SOURCES: ReadonlyMap<string, StreamSource> = new Map([
  [EVENTS, events],
  [CONTROLS, controls],
  [APPROVALS, approvals],
]);
