import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  isObject,
  JsonDuplicateError,
  JsonNumberError,
  type JsonObject,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
  type JsonValue,
  parseJson,
} from '../../../packages/exact-json/src/index.js';
import type { TargetName } from '../../contract/call/namespace.js';
import {
  anyJson,
  field,
  freeObject,
  jsonSchemaOf,
  nullable,
  oneOf,
  readWith,
  refuse,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { position } from '../../contract/input/numbers.js';
import { parseInput } from '../../contract/input/parse-input.js';
import { checkTarget, MAX_TARGET_LENGTH, targetMembers, targetNamed } from '../../contract/input/target.js';
import { pathText } from '../../contract/warnings/request-warnings.js';
import { STAGES, type Stage, type Step } from '../../kernel/core/types.js';
import { type EvaluationOptions, optionMembers, optionsOf, wellFormedOptions } from './evaluation-options.js';
import type { HeldStep } from './held-step.js';

/** Input of an evaluation. */
export interface EvaluateRequest {
  /** Normalised. */
  readonly agentName: string;
  readonly stage: Stage;
  readonly step: Step;
  /** Use the controls of this revision or a later one; 0 for the current ones. */
  readonly minRevision: number;
  /** What the agent works on: its enabled bindings add their controls. Null for nothing. */
  readonly target: TargetName | null;
  /** Null without options, the usual case. */
  readonly options: EvaluationOptions | null;
  /** Set when the data of the step are in another thread; `step` has its type and name only. */
  readonly held?: HeldStep;
}

/** An agent name that is already normalised. */
const NORMAL_AGENT_NAME = /^[a-z0-9:_-]{10,255}$/;

/**
 * Reads an evaluation request from parsed JSON of bounded depth. Throws a VALIDATION_ERROR with every
 * problem. A well-formed request, the usual case, is read without a schema and allocates its result only.
 */
export function readEvaluateRequest(value: unknown): EvaluateRequest {
  return readWellFormed(value as JsonValue | undefined) ?? parseInput(evaluateRequestSchema, value);
}

function readWellFormed(request: JsonValue | undefined): EvaluateRequest | undefined {
  if (!isObject(request)) return undefined;
  const { agent_name, step, stage, min_revision = 0, target_type, target_id } = request;
  const { session_id, step_id, traceparent, timeout, accepts, step_error } = request;
  const options = wellFormedOptions(session_id, step_id, traceparent, timeout, accepts, step_error);
  if (options === undefined) return undefined;
  return wellFormedRequest(agent_name, stage, step, min_revision, target_type, target_id, options);
}

/**
 * An evaluation request of these members; undefined if one of them is invalid, or an agent name is not in its
 * normal form: `readEvaluateRequest` then normalises it or names the problems.
 */
export function wellFormedRequest(
  agentName: JsonValue | undefined,
  stage: JsonValue | undefined,
  step: JsonValue | undefined,
  minRevision: JsonValue,
  targetType: JsonValue | undefined,
  targetId: JsonValue | undefined,
  options: EvaluationOptions | null,
): EvaluateRequest | undefined {
  if (typeof agentName !== 'string' || !NORMAL_AGENT_NAME.test(agentName)) return undefined;
  if (stage !== 'pre' && stage !== 'post') return undefined;
  if (stage === 'pre' && options?.stepError !== undefined) return undefined;
  if (!isRevision(minRevision)) return undefined;
  const target = wellFormedTarget(targetType, targetId);
  if (target === undefined) return undefined;
  const read = readStep(step);
  return read && { agentName, stage, step: read, minRevision, target, options };
}

function wellFormedTarget(
  type: JsonValue | undefined,
  id: JsonValue | undefined,
): TargetName | null | undefined {
  if (type === undefined && id === undefined) return null;
  return isTargetPart(type) && isTargetPart(id) ? { type, id } : undefined;
}

function isTargetPart(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_TARGET_LENGTH;
}

function isRevision(value: JsonValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function readStep(step: JsonValue | undefined): Step | undefined {
  if (!isObject(step)) return undefined;
  const { type, name, input, output, context } = step as Partial<JsonObject>;
  if (typeof type !== 'string' || type === '' || typeof name !== 'string' || name === '') return undefined;
  if (input === undefined || (type === 'tool' && !isObject(input))) return undefined;
  if (context !== undefined && context !== null && !isObject(context)) return undefined;
  return { type, name, input, output: output ?? null, context: context ?? null };
}

/** Reads a step. */
export const stepSchema: z.ZodType<Step> = z
  .object({
    type: text(LIMITS.Step.type),
    name: text(LIMITS.Step.name),
    input: anyJson(),
    output: anyJson().optional(),
    context: nullable(freeObject()),
  })
  .transform((read, sink): Step => {
    if (read.type === 'tool' && !isObject(read.input)) {
      report(sink, 'value_error', 'the input of a tool step must be an object', read.input);
    }
    return { ...read, output: read.output ?? null, context: read.context ?? null };
  });

/** Reads a step that is sent as JSON text. */
export function stepText(): z.ZodType<Step> {
  return field(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      let step: JsonValue;
      try {
        step = parseJson(value, { duplicates: 'refuse' });
      } catch (error) {
        const problem = jsonProblem(error);
        if (problem === undefined) throw error;
        return refuse(sink, problem.code, problem.message, null);
      }
      return readWith(stepSchema, step, sink) ?? z.NEVER;
    },
    { type: 'string', contentMediaType: 'application/json' },
  );
}

/** The problem of a text that is not JSON within the limits; undefined for any other error. */
export function jsonProblem(error: unknown): { code: string; message: string } | undefined {
  const code = JSON_PROBLEMS.find(([kind]) => error instanceof kind)?.[1];
  if (code === undefined) return undefined;
  const place = error instanceof JsonDuplicateError ? `${pathText(error.path)}: ` : '';
  return { code, message: `${place}${(error as Error).message}` };
}

const JSON_PROBLEMS = [
  [JsonDuplicateError, 'duplicate_member'],
  [JsonTooDeepError, 'recursion_loop'],
  [JsonTooLargeError, 'too_long'],
  [JsonNumberError, 'finite_number'],
  [JsonSyntaxError, 'json_invalid'],
  [JsonUndecodableError, 'json_invalid'],
] as const;

/** An example of the OpenAPI document. */
export const EXAMPLE_EVALUATION = {
  agent_name: 'billing-bot-01',
  stage: 'pre',
  step: { type: 'tool', name: 'send_email', input: { text: 'card 4111111111111111' } },
};

/** The rule that an error at the stage pre breaks. */
export const FAILED_BEFORE = 'is only allowed with the stage post: before a step runs, it cannot have failed';

/** Reads an evaluation request of a JSON route. */
export const evaluateRequestSchema: z.ZodType<EvaluateRequest> = z
  .object({
    agent_name: agentName(),
    step: stepSchema,
    stage: oneOf(STAGES),
    min_revision: withDefault(position, 0),
    ...targetMembers,
    ...optionMembers,
  })
  .transform(({ agent_name, step, stage, min_revision, ...others }, sink) => {
    checkTarget(others, sink);
    if (stage === 'pre' && others.step_error !== undefined) {
      report(sink, 'value_error', FAILED_BEFORE, null, ['step_error']);
    }
    return {
      agentName: agent_name,
      stage,
      step,
      minRevision: min_revision,
      target: targetNamed(others),
      options: optionsOf(others),
    };
  });
withExample(evaluateRequestSchema, EXAMPLE_EVALUATION);

/** Most evaluations of one batch, and of one message of a stream. */
export const MAX_EVALUATIONS = LIMITS.EvaluateBatchRequest.evaluations.max;

/**
 * Reads the list of a batch without its evaluations: an invalid one must not affect the others. Their schema
 * is shown in documents.
 */
export const evaluateBatchSchema: z.ZodType<{ readonly evaluations: readonly JsonValue[] }> = withExample(
  z.object({
    evaluations: field(
      (value, sink) => {
        if (!Array.isArray(value)) return refuse(sink, 'list_type', 'must be a list', value);
        const problem = evaluationCountProblem(value.length);
        return problem === undefined ? value : refuse(sink, problem.code, problem.message, value);
      },
      {
        type: 'array',
        items: jsonSchemaOf(evaluateRequestSchema),
        minItems: 1,
        maxItems: MAX_EVALUATIONS,
      },
    ),
  }),
  { evaluations: [EXAMPLE_EVALUATION] },
);

/** The problem of this number of evaluations, if any. */
export function evaluationCountProblem(count: number): { code: string; message: string } | undefined {
  if (count === 0) return { code: 'too_short', message: 'must have at least 1 item' };
  if (count <= MAX_EVALUATIONS) return undefined;
  return { code: 'too_long', message: `must have at most ${MAX_EVALUATIONS} items` };
}
