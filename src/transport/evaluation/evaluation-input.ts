import { Stage as StageMessage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { Detail as DetailMessage } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  JsonNumberError,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
  type JsonValue,
  parseJson,
} from '../../../packages/exact-json/src/index.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { Detail } from '../../core/types.js';
import {
  type EvaluateRequest,
  readEvaluateRequest,
  wellFormedRequest,
} from '../../decisions/evaluate-request.js';
import type { EvaluationFields } from '../wire/evaluation-codec.js';
import { MappingError, mappingErrorToServiceError } from '../wire/mapping-error.js';

/** Converts a request message for the evaluation. Throws a ServiceError that names the field. */
export function evaluationRequestOf(fields: EvaluationFields): EvaluateRequest {
  const { agentName, minRevision, targetType, targetId } = fields;
  const stage = stageWord(fields.stage);
  const step = stepOf(fields);
  const request = wellFormedRequest(agentName, stage, step, minRevision, targetType, targetId);
  // The problems of an invalid request are named as over JSON.
  return (
    request ??
    readEvaluateRequest({
      agent_name: agentName === '' ? undefined : agentName,
      stage,
      step,
      min_revision: minRevision,
      target_type: targetType,
      target_id: targetId,
    })
  );
}

/** The detail a message requests; by default only the verdict. */
export function detailOf({ detail }: EvaluationFields): Detail {
  switch (detail) {
    case DetailMessage.UNSPECIFIED:
    case DetailMessage.VERDICT:
      return 'verdict';
    case DetailMessage.FULL:
      return 'full';
    default:
      throw invalid('detail', 'literal_error', 'must be DETAIL_VERDICT or DETAIL_FULL', detail);
  }
}

function stageWord(stage: number): JsonValue | undefined {
  if (stage === StageMessage.PRE) return 'pre';
  if (stage === StageMessage.POST) return 'post';
  return stage === StageMessage.UNSPECIFIED ? undefined : stage;
}

function stepOf({ step, stepJson }: EvaluationFields): JsonValue | undefined {
  if (stepJson !== undefined) return parseStepJson(stepJson);
  if (step instanceof MappingError) throw mappingErrorToServiceError(step);
  return step;
}

function parseStepJson(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonTooDeepError) throw invalid('step_json', 'recursion_loop', error.message);
    if (error instanceof JsonTooLargeError) throw invalid('step_json', 'too_long', error.message);
    if (error instanceof JsonNumberError) throw invalid('step_json', 'finite_number', error.message);
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
