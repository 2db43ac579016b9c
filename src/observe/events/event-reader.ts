import { randomUUID } from 'node:crypto';
import {
  isDeeperThan,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
} from '../../../packages/exact-json/src/index.js';
import {
  type ControlEvent,
  type EventStep,
  MAX_STEP_NAME_LENGTH,
  MAX_STEP_TEXT_LENGTH,
} from './store/event.js';
import { readTime, utcTimeOfMs } from './store/event-time.js';

/** An agent name that is already normalised. */
const NORMAL_AGENT_NAME = /^[a-z0-9:_-]{10,255}$/;
const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);

/**
 * Reads an event whose members all have the stored type, the usual case: with the result of the schema, at a
 * tenth of its cost. Undefined when the schema is required.
 */
export function readWellFormedEvent(value: JsonValue, now: () => number): ControlEvent | undefined {
  if (!isObject(value)) return undefined;
  const { control_execution_id: id, trace_id, span_id, agent_name, control_id, control_name } = value;
  const { check_stage, applies_to, action, matched, confidence } = value;
  if (id !== undefined && typeof id !== 'string') return undefined;
  if (!isFilled(trace_id) || !isFilled(span_id)) return undefined;
  if (typeof agent_name !== 'string' || !NORMAL_AGENT_NAME.test(agent_name)) return undefined;
  if (!isInt32(control_id) || typeof control_name !== 'string') return undefined;
  if (check_stage !== 'pre' && check_stage !== 'post') return undefined;
  if (applies_to !== 'llm_call' && applies_to !== 'tool_call') return undefined;
  if (action !== 'deny' && action !== 'steer' && action !== 'observe') return undefined;
  if (typeof matched !== 'boolean' || !isWithin(confidence, 1)) return undefined;
  const optional = readOptional(value, now);
  if (optional === undefined) return undefined;
  const step = readStep(value);
  if (step === undefined) return undefined;
  return {
    origin: 'client',
    control_execution_id: id ?? randomUUID(),
    trace_id,
    span_id,
    agent_name,
    control_id,
    control_name,
    check_stage,
    applies_to,
    action,
    matched,
    confidence,
    ...optional,
    ...step,
  };
}

function readStep(value: JsonObject): EventStep | undefined {
  const {
    step_type = null,
    session_id = null,
    step_id = null,
    decision_id = null,
  } = value as Partial<JsonObject>;
  const { step_name = null, revision: given = null } = value as Partial<JsonObject>;
  const revision = typeof given === 'bigint' ? Number(given) : given;
  if (!isStepText(step_type) || !isStepText(session_id) || !isStepText(step_id)) return undefined;
  if (!isStepText(decision_id) || !isStepText(step_name, MAX_STEP_NAME_LENGTH)) return undefined;
  if (!isRevision(revision)) return undefined;
  return { step_type, step_name, session_id, step_id, revision, decision_id };
}

function isStepText(value: JsonValue, max: number = MAX_STEP_TEXT_LENGTH): value is string | null {
  return value === null || (typeof value === 'string' && value !== '' && value.length <= max);
}

function isRevision(value: JsonValue): value is number | null {
  return value === null || (Number.isSafeInteger(value) && isWithin(value, Number.MAX_SAFE_INTEGER));
}

type Optional = Pick<
  ControlEvent,
  'timestamp' | 'execution_duration_ms' | 'evaluator_name' | 'selector_path' | 'error_message' | 'metadata'
>;

function readOptional(value: JsonObject, now: () => number): Optional | undefined {
  const { timestamp, metadata, execution_duration_ms: duration = null } = value as Partial<JsonObject>;
  const { evaluator_name = null, selector_path = null, error_message = null } = value as Partial<JsonObject>;
  if (timestamp !== undefined && typeof timestamp !== 'string') return undefined;
  const time = timestamp === undefined ? utcTimeOfMs(now()) : readTime(timestamp);
  if (time === undefined) return undefined;
  if (duration !== null && !isWithin(duration, Number.MAX_SAFE_INTEGER)) return undefined;
  if (!isTextOrNull(evaluator_name) || !isTextOrNull(selector_path) || !isTextOrNull(error_message)) {
    return undefined;
  }
  if (metadata !== undefined && (!isObject(metadata) || isDeeperThan(metadata, MAX_JSON_DEPTH)))
    return undefined;
  return {
    timestamp: time,
    execution_duration_ms: duration,
    evaluator_name,
    selector_path,
    error_message,
    metadata: metadata ?? {},
  };
}

function isFilled(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isInt32(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= MIN_INT32 && value <= MAX_INT32;
}

function isWithin(value: JsonValue | undefined, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max;
}

function isTextOrNull(value: JsonValue): value is string | null {
  return value === null || typeof value === 'string';
}
