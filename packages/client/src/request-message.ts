import { create } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Stage as StageEnum } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  Detail,
  type EvaluateRequest,
  EvaluateRequestSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { OUTCOMES } from './combined.js';
import { checkedTraceparent, revision } from './settings.js';
import { stepJson } from './step-json.js';
import type { EvaluationOptions, EvaluationRequest } from './types.js';

/** Limit of the service for the time of one evaluation. */
const MAX_SERVER_TIMEOUT_MS = 3_600_000;

interface MessageDefaults {
  readonly traceparent: () => string | undefined;
  readonly leastRevision: bigint;
}

/** The message of an evaluation. Throws a TypeError or RangeError for invalid options. */
export function requestMessage(
  { stage, step }: EvaluationRequest,
  agent: string,
  given: EvaluationOptions,
  defaults: MessageDefaults,
): EvaluateRequest {
  if (stage !== 'pre' && stage !== 'post') throw new TypeError('stage must be "pre" or "post"');
  const minRevision = revision(given.minRevision ?? 0);
  const message = create(EvaluateRequestSchema, {
    agentName: agent,
    stage: stage === 'pre' ? StageEnum.PRE : StageEnum.POST,
    stepForm: { case: 'stepJson', value: stepJson(step) },
    detail: given.detail === 'full' ? Detail.FULL : Detail.VERDICT,
    minRevision: minRevision > defaults.leastRevision ? minRevision : defaults.leastRevision,
  });
  const traceparent = given.traceparent ?? defaults.traceparent();
  if (traceparent !== undefined) message.traceparent = checkedTraceparent(traceparent);
  if (given.sessionId !== undefined) message.sessionId = given.sessionId;
  if (given.stepId !== undefined) message.stepId = given.stepId;
  if (given.stepError !== undefined) message.stepError = given.stepError;
  // The service stops the work on what is no longer awaited.
  if (given.timeoutMs !== undefined)
    message.timeout = durationFromMs(Math.min(Math.ceil(given.timeoutMs), MAX_SERVER_TIMEOUT_MS));
  if (given.accepts !== undefined) message.accepts = given.accepts.map((one) => OUTCOMES[one]);
  return message;
}
