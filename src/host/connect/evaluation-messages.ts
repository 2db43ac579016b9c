import { create } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import {
  Decision,
  Stage as StageMessage,
  type SteeringContext as SteeringContextMessage,
  SteeringContextSchema,
} from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult as ControlResultMessage,
  ControlResultSchema,
  Detail as DetailMessage,
  type EvaluateRequest,
  type EvaluateResponse,
  EvaluateResponseSchema,
  EvaluatorResultSchema,
  type Step as StepMessage,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { ServiceError } from '../../errors/service-error.js';
import type { ControlResult, Detail, SteeringContext, Verdict } from '../../evaluation/types.js';
import { readEvaluateRequest } from '../../evaluation-api/evaluate-request.js';
import type { EvaluationRequest } from '../../evaluation-api/evaluation-service.js';
import {
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
} from '../../json/json-errors.js';
import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { parseJson } from '../../json/parse-json.js';
import { invalidRequest } from '../../validation/parse-input.js';
import { freeFormFromPlain, valueToPlain } from './free-form-mapper.js';
import { within } from './mapping-error.js';

/** An EvaluateRequest message as the evaluation takes it. Throws a ServiceError or MappingError that names the field. */
export function evaluationRequestOf(message: EvaluateRequest): EvaluationRequest {
  return readEvaluateRequest({
    agent_name: message.agentName === '' ? undefined : message.agentName,
    stage: stageWord(message.stage),
    step: stepOf(message),
  });
}

/** The detail a message asks for; the verdict alone unless it says otherwise. */
export function detailOf(message: EvaluateRequest): Detail {
  switch (message.detail) {
    case DetailMessage.UNSPECIFIED:
    case DetailMessage.VERDICT:
      return 'verdict';
    case DetailMessage.FULL:
      return 'full';
    default:
      throw invalid('detail', 'literal_error', 'must be DETAIL_VERDICT or DETAIL_FULL', message.detail);
  }
}

function stageWord(stage: StageMessage): JsonValue | undefined {
  if (stage === StageMessage.PRE) return 'pre';
  if (stage === StageMessage.POST) return 'post';
  return stage === StageMessage.UNSPECIFIED ? undefined : stage;
}

function stepOf(message: EvaluateRequest): JsonValue | undefined {
  const { stepForm } = message;
  if (stepForm.case === 'step') return within('step', null, plainStep, stepForm.value);
  return stepForm.case === 'stepJson' ? parseStepJson(stepForm.value) : undefined;
}

function plainStep(step: StepMessage): JsonObject {
  const plain: JsonObject = { type: step.type, name: step.name };
  if (step.input !== undefined) plain.input = within('input', null, topValue, step.input);
  if (step.output !== undefined) plain.output = within('output', null, topValue, step.output);
  if (step.context !== undefined) plain.context = within('context', null, topValue, step.context);
  return plain;
}

const topValue = (value: NonNullable<StepMessage['input']>): JsonValue => valueToPlain(value);

function parseStepJson(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonTooDeepError) throw invalid('step_json', 'recursion_loop', error.message);
    if (error instanceof JsonTooLargeError) throw invalid('step_json', 'too_long', error.message);
    if (error instanceof JsonSyntaxError || error instanceof JsonUndecodableError) {
      throw invalid('step_json', 'json_invalid', error.message);
    }
    throw error;
  }
}

function invalid(field: string, code: string, message: string, value?: JsonValue): ServiceError {
  return invalidRequest([
    { resource: 'Request', field, code, message, ...(value === undefined ? {} : { value }) },
  ]);
}

/** A verdict as a message. */
export function verdictMessage(verdict: Verdict): EvaluateResponse {
  const message = create(EvaluateResponseSchema);
  message.isSafe = verdict.is_safe;
  message.confidence = verdict.confidence;
  if (verdict.reason !== null) message.reason = verdict.reason;
  message.matches = verdict.matches.map(controlResultMessage);
  message.errors = verdict.errors.map(controlResultMessage);
  message.nonMatches = verdict.non_matches.map(controlResultMessage);
  return message;
}

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
