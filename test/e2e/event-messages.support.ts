import type { MessageInitShape } from '@bufbuild/protobuf';
import { Decision, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  AppliesTo,
  type ControlExecutionEventSchema,
} from '../../gen/proto/enforcement/v1/observability_service_pb.js';

/** An event of an agent as a message, with what it requires. */
export const messagesOf =
  (agentName: string) =>
  (
    id: string,
    more: MessageInitShape<typeof ControlExecutionEventSchema> = {},
  ): MessageInitShape<typeof ControlExecutionEventSchema> => ({
    controlExecutionId: id,
    traceId: 'trace',
    spanId: 'span',
    agentName,
    controlId: 1,
    controlName: 'one',
    checkStage: Stage.PRE,
    appliesTo: AppliesTo.LLM_CALL,
    action: Decision.DENY,
    matched: true,
    confidence: 1,
    ...more,
  });
