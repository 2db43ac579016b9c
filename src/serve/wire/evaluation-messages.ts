import { create } from '@bufbuild/protobuf';
import {
  anyPack,
  type Duration,
  DurationSchema,
  durationFromMs,
  StructSchema,
  timestampFromMs,
  type Value,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import {
  type ApprovalNotice as ApprovalNoticeMessage,
  ApprovalNoticeSchema,
  ApprovalState,
} from '../../../gen/proto/enforcement/v1/approval_pb.js';
import {
  Decision,
  type SteeringContext as SteeringContextMessage,
  SteeringContextSchema,
} from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult as ControlResultMessage,
  ControlResultSchema,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
  type EvaluateRequest,
  type EvaluateResponse,
  EvaluateResponseSchema,
  type EvaluateStreamRequest,
  type EvaluateStreamResponse,
  EvaluateStreamResponseSchema,
  type EvaluateStreamResult,
  EvaluateStreamResultSchema,
  EvaluatorResultSchema,
  HaltNoticeSchema,
  type LimitStatus,
  LimitStatusSchema,
  Outcome,
  SchemaMismatchSchema,
  type Step as StepMessage,
  type StepModification as StepModificationMessage,
  StepModificationSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type Status, StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { durationParts } from '../../decide/decisions/applied-limits.js';
import type { ApprovalNotice } from '../../decide/decisions/approval-gate.js';
import type { StepModification } from '../../decide/decisions/lifted-step.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { AppliedLimit } from '../../kernel/core/memory.js';
import type { ControlResult, SteeringContext } from '../../kernel/core/types.js';
import type {
  EvaluationFields,
  EvaluationOutcome,
  OptionFields,
  StreamFields,
  StreamReply,
} from './evaluation-codec.js';
import { freeFormFromPlain, valueToPlain } from './free-form-mapper.js';
import { MappingError, within } from './mapping-error.js';
import { RpcStatus } from './rpc-status.js';

/** The fields of an EvaluateRequest message. */
export function evaluationFieldsOf(message: EvaluateRequest): EvaluationFields {
  const { agentName, stage, detail, stepForm, minRevision, targetType, targetId } = message;
  return {
    agentName,
    stage,
    detail,
    step: stepForm.case === 'step' ? stepOrProblem(stepForm.value) : undefined,
    minRevision: Number(minRevision),
    stepJson: stepForm.case === 'stepJson' ? stepForm.value : undefined,
    targetType,
    targetId,
    options: optionFieldsOf(message),
  };
}

function optionFieldsOf(message: EvaluateRequest): OptionFields | null {
  const { sessionId, stepId, traceparent, timeout, accepts: listed, stepError } = message;
  const accepts = listed.length === 0 ? undefined : listed;
  if ((sessionId ?? stepId ?? traceparent ?? timeout ?? accepts ?? stepError) === undefined) return null;
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout);
  return { sessionId, stepId, traceparent, timeoutMs, accepts, stepError };
}

/** Seconds of a Duration are at most 10,000 years, and its parts have the same sign. */
const MAX_DURATION_SECONDS = 315_576_000_000;

function durationMs({ seconds, nanos }: Duration): number {
  return millisecondsOf(Number(seconds), nanos);
}

/** The milliseconds of the parts of a Duration; NaN if it is invalid. */
export function millisecondsOf(seconds: number, nanos: number): number {
  const isValid =
    Math.abs(seconds) <= MAX_DURATION_SECONDS && Math.abs(nanos) <= 999_999_999 && seconds * nanos >= 0;
  return isValid ? seconds * 1_000 + nanos / 1_000_000 : Number.NaN;
}

/** The fields of an EvaluateStreamRequest message. */
export function streamFieldsOf(message: EvaluateStreamRequest): StreamFields {
  const { id, evaluations, cancel } = message;
  return { id, evaluations: evaluations.map(evaluationFieldsOf), cancel };
}

function stepOrProblem(step: StepMessage): JsonObject | MappingError {
  try {
    return within('step', null, plainStep, step);
  } catch (error) {
    if (error instanceof MappingError) return error;
    throw error;
  }
}

function plainStep(step: StepMessage): JsonObject {
  const plain: JsonObject = { type: step.type, name: step.name };
  if (step.input !== undefined) plain.input = within('input', null, topValue, step.input);
  if (step.output !== undefined) plain.output = within('output', null, topValue, step.output);
  if (step.context !== undefined) plain.context = within('context', null, topValue, step.context);
  return plain;
}

const topValue = (value: NonNullable<StepMessage['input']>): JsonValue => valueToPlain(value);

/** A verdict as a message. */
export function verdictMessage(verdict: RevisedVerdict): EvaluateResponse {
  const message = create(EvaluateResponseSchema);
  message.isSafe = verdict.is_safe;
  message.confidence = verdict.confidence;
  if (verdict.reason !== null) message.reason = verdict.reason;
  message.matches = verdict.matches.map(controlResultMessage);
  message.errors = verdict.errors.map(controlResultMessage);
  message.nonMatches = verdict.non_matches.map(controlResultMessage);
  message.revision = BigInt(verdict.revision);
  if (verdict.staleness_seconds !== null) message.stalenessSeconds = verdict.staleness_seconds;
  message.outcome = OUTCOMES[verdict.outcome];
  message.decisionId = String(verdict.decision_id);
  message.selectedControls = verdict.selected_controls;
  message.evaluatedControls = verdict.evaluated_controls;
  message.skippedControls = verdict.skipped_controls;
  if (verdict.schema_mismatch !== null) {
    const { part, path, problem, not_compared } = verdict.schema_mismatch;
    message.schemaMismatch = create(SchemaMismatchSchema, { part, path, problem, notCompared: not_compared });
  }
  if (verdict.limits !== undefined) message.limits = verdict.limits.map(limitMessage);
  if (verdict.halt !== undefined) {
    const { haltId, reason, expiresAtMs } = verdict.halt;
    message.halt = create(HaltNoticeSchema, { haltId, reason });
    if (expiresAtMs !== null) message.halt.expiresAt = timestampFromMs(expiresAtMs);
  }
  if (verdict.approval !== undefined) message.approval = approvalMessage(verdict.approval);
  if (verdict.modification !== undefined) message.modification = modificationMessage(verdict.modification);
  return message;
}

export function approvalMessage(notice: ApprovalNotice): ApprovalNoticeMessage {
  const { id, state, expiresAtMs, stepSha256, controls } = notice;
  return create(ApprovalNoticeSchema, {
    id,
    state: APPROVAL_STATES[state],
    expiresAt: timestampFromMs(expiresAtMs),
    stepSha256,
    controls: controls.map((control) => ({ controlId: control.id, controlName: control.name })),
  });
}

export function modificationMessage(modification: StepModification): StepModificationMessage {
  const { type, name, input, output, context } = modification.step;
  return create(StepModificationSchema, {
    patch: modification.patch.map((operation) => {
      const { op, path } = operation;
      if (op === 'remove') return { op, path };
      return { op, path, value: freeFormFromPlain(ValueSchema, operation.value) as Value };
    }),
    stepJson: stringifyJson({ type, name, input, output, context }),
    controlIds: [...modification.controlIds],
  });
}

function limitMessage(applied: AppliedLimit): LimitStatus {
  const { controlId, controlName, evaluatorName, limit, remaining, key, sinceUs } = applied;
  const message = create(LimitStatusSchema, { controlId, controlName, evaluatorName, limit, remaining, key });
  message.degraded = applied.degraded ?? '';
  if (applied.resetsAfterUs !== null) message.resetsAfter = durationMessage(applied.resetsAfterUs);
  if (applied.retryAfterUs !== null) message.retryAfter = durationMessage(applied.retryAfterUs);
  if (applied.windowUs !== null) message.window = durationMessage(applied.windowUs);
  if (sinceUs !== null) message.countsSince = timestampFromMs(Math.floor(sinceUs / 1_000));
  return message;
}

function durationMessage(us: number): Duration {
  const { seconds, nanos } = durationParts(us);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos });
}

/** The results of a batch as a message. */
export function batchMessage(outcomes: readonly EvaluationOutcome[]): EvaluateBatchResponse {
  const message = create(EvaluateBatchResponseSchema);
  message.results = outcomes.map(resultMessage);
  return message;
}

/** The answer to one message of a stream as a message. */
export function streamReplyMessage(reply: StreamReply): EvaluateStreamResponse {
  const message = create(EvaluateStreamResponseSchema);
  message.id = reply.id;
  message.results = reply.outcomes.map(resultMessage);
  return message;
}

/** The notice that a stream ends, within whole milliseconds, as a message. */
export function noticeMessage(drainWithinMs: number): EvaluateStreamResponse {
  return create(EvaluateStreamResponseSchema, {
    notice: { drainWithin: durationFromMs(drainWithinMs) },
  });
}

function resultMessage(outcome: EvaluationOutcome): EvaluateStreamResult {
  const message = create(EvaluateStreamResultSchema);
  message.outcome =
    outcome instanceof RpcStatus
      ? { case: 'error', value: statusMessage(outcome) }
      : { case: 'verdict', value: verdictMessage(outcome) };
  return message;
}

/** A status as the message that carries it inside a reply. */
export function statusMessage({ code, message, details }: RpcStatus): Status {
  const packed = details.map(({ desc, value }) => anyPack(desc, create(desc, value)));
  return create(StatusSchema, { code, message, details: packed });
}

/** Numbers of the outcomes. */
export const OUTCOMES = {
  allow: Outcome.ALLOW,
  deny: Outcome.DENY,
  steer: Outcome.STEER,
  ask: Outcome.ASK,
  modify: Outcome.MODIFY,
} as const;

const APPROVAL_STATES = {
  pending: ApprovalState.PENDING,
  approved: ApprovalState.APPROVED,
  denied: ApprovalState.DENIED,
  expired: ApprovalState.EXPIRED,
  cancelled: ApprovalState.CANCELLED,
  used: ApprovalState.USED,
} as const;

const DECISIONS = { deny: Decision.DENY, steer: Decision.STEER, observe: Decision.OBSERVE } as const;

function controlResultMessage(item: ControlResult): ControlResultMessage {
  const result = create(EvaluatorResultSchema);
  result.matched = item.result.matched;
  result.confidence = item.result.confidence;
  if (item.result.message !== null) result.message = item.result.message;
  if (item.result.error !== null) result.error = item.result.error;
  if (item.result.metadata !== null) {
    result.metadata = freeFormFromPlain(StructSchema, item.result.metadata) as NonNullable<
      typeof result.metadata
    >;
  }
  const message = create(ControlResultSchema);
  message.controlExecutionId = item.control_execution_id;
  message.controlId = item.control_id;
  message.controlName = item.control_name;
  message.action = DECISIONS[item.action];
  message.result = result;
  if (item.steering_context !== null) message.steeringContext = steeringMessage(item.steering_context);
  return message;
}

function steeringMessage(steering: SteeringContext): SteeringContextMessage {
  const message = create(SteeringContextSchema);
  message.message = steering.message;
  message.requiredActions = [...(steering.required_actions ?? [])];
  return message;
}
