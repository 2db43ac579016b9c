import { Stage as StageMessage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { Detail as DetailMessage, Outcome } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type DuplicateMembers, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import {
  type EvaluateRequest,
  jsonProblem,
  readEvaluateRequest,
  wellFormedRequest,
} from '../../decide/decisions/evaluate-request.js';
import {
  type EvaluationOptions,
  OUTCOME_WORDS,
  wellFormedOptions,
} from '../../decide/decisions/evaluation-options.js';
import type { Detail } from '../../kernel/core/types.js';
import type { EvaluationFields, OptionFields } from '../wire/evaluation-codec.js';
import { MappingError, mappingErrorToServiceError } from '../wire/mapping-error.js';

/** Converts a request message for the evaluation. Throws a ServiceError that names the field. */
export function evaluationRequestOf(fields: EvaluationFields, duplicates: DuplicateMembers): EvaluateRequest {
  if (fields.read !== undefined) return requestRead(fields);
  const { agentName, minRevision, targetType, targetId } = fields;
  const stage = stageWord(fields.stage);
  const step = stepOf(fields, duplicates);
  const options = fields.options === null ? null : optionsOf(fields.options);
  const request =
    options === undefined
      ? undefined
      : wellFormedRequest(agentName, stage, step, minRevision, targetType, targetId, options);
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
      ...(fields.options && optionMembersOf(fields.options)),
    })
  );
}

/** The request of an evaluation that was read in another thread. Throws its error. */
export function requestRead({ read }: EvaluationFields): EvaluateRequest {
  if (read === undefined) throw new Error('an evaluation was not read in another thread');
  if ('error' in read) throw read.error;
  return read.request;
}

/** Null without options; undefined if one of them is invalid. */
function optionsOf(fields: OptionFields): EvaluationOptions | null | undefined {
  const { session_id, step_id, traceparent, timeout, accepts, step_error } = optionMembersOf(fields);
  return wellFormedOptions(session_id, step_id, traceparent, timeout, accepts, step_error);
}

/** The options in the form of JSON. */
function optionMembersOf({ sessionId, stepId, traceparent, timeoutMs, accepts, stepError }: OptionFields) {
  return {
    session_id: sessionId,
    step_id: stepId,
    traceparent,
    timeout: timeoutMs === undefined ? undefined : `${(timeoutMs / 1_000).toFixed(9)}s`,
    accepts: accepts?.flatMap(outcomeWord),
    step_error: stepError,
  };
}

/** The word of an Outcome, or its number if it is none. Outcomes of later versions are never made: left out. */
function outcomeWord(outcome: number): JsonValue[] {
  if (outcome === Outcome.UNSPECIFIED) return [outcome];
  const word = OUTCOME_WORDS[outcome - 1];
  return word === undefined ? [] : [word];
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

function stepOf({ step, stepJson }: EvaluationFields, duplicates: DuplicateMembers): JsonValue | undefined {
  if (stepJson !== undefined) return parseStepJson(stepJson, duplicates);
  if (step instanceof MappingError) throw mappingErrorToServiceError(step);
  return step;
}

function parseStepJson(bytes: Uint8Array, duplicates: DuplicateMembers): JsonValue {
  try {
    return parseJson(bytes, { duplicates });
  } catch (error) {
    const problem = jsonProblem(error);
    if (problem !== undefined) throw invalid('step_json', problem.code, problem.message);
    throw error;
  }
}

function invalid(field: string, code: string, message: string, value?: JsonValue): ServiceError {
  return invalidRequest([
    { resource: 'Request', field, code, message, ...(value === undefined ? {} : { value }) },
  ]);
}
