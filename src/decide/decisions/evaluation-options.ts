import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { field, list, nullable, oneOf, refuse, text } from '../../contract/input/fields.js';
import { duration, millisecondsOf } from '../../contract/input/times.js';

/** Outcomes of a verdict, all of which a caller may accept. */
export const OUTCOME_WORDS = ['allow', 'deny', 'steer', 'ask', 'modify'] as const;
export type VerdictOutcome = (typeof OUTCOME_WORDS)[number];

/** Optional members of an evaluation request. */
export interface EvaluationOptions {
  readonly sessionId: string | undefined;
  readonly stepId: string | undefined;
  /** A valid `traceparent` of W3C Trace Context. */
  readonly traceparent: string | undefined;
  readonly timeoutMs: number | undefined;
  /** Undefined for the default: allow, deny and steer. */
  readonly accepts: readonly VerdictOutcome[] | undefined;
  /** Why the step failed; may be empty. Undefined if it did not, and always at the stage pre. */
  readonly stepError: string | undefined;
}

const limits = LIMITS.EvaluateRequest;
/** Longest session id and step id, in UTF-16 code units. */
const MAX_ID_LENGTH = limits.session_id.max;
/** Longest time limit of an evaluation. */
export const MAX_TIMEOUT_MS = limits.timeout.max;
const MAX_STEP_ERROR_LENGTH = limits.step_error.max;
const MAX_ACCEPTED = limits.accepts.max;
/** Later versions of `traceparent` may add parts to the four of version 00. */
const MAX_TRACEPARENT_LENGTH = limits.traceparent.max;
/** Version, trace id, parent id and flags; ids of zeros and the version ff are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;
const VERSION_00_LENGTH = 55;

/** Whether a text is a valid `traceparent` (https://www.w3.org/TR/trace-context/#traceparent-header). */
export function isTraceparent(value: string): boolean {
  if (value.length > MAX_TRACEPARENT_LENGTH || !TRACEPARENT.test(value)) return false;
  return value.length === VERSION_00_LENGTH || !value.startsWith('00');
}

const id = (): z.ZodType<string | undefined> => nullable(text(limits.session_id));

const traceparent = (): z.ZodType<string> =>
  field(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      if (isTraceparent(value)) return value;
      const rule =
        'must be a traceparent of W3C Trace Context: version-traceid-parentid-flags, in lower case';
      return refuse(sink, 'string_pattern_mismatch', rule, value);
    },
    { type: 'string', pattern: TRACEPARENT.source, maxLength: MAX_TRACEPARENT_LENGTH },
  );

/** The members of EvaluateRequest that make the options. */
export const optionMembers = {
  session_id: id(),
  step_id: id(),
  traceparent: nullable(traceparent()),
  timeout: nullable(duration(limits.timeout)),
  accepts: nullable(list(oneOf(OUTCOME_WORDS), limits.accepts)),
  step_error: nullable(text(limits.step_error)),
};

/** Output of `optionMembers`. */
type OptionMembers = {
  readonly [Name in keyof typeof optionMembers]: z.output<(typeof optionMembers)[Name]>;
};

/** The options made of validated members; null if there are none. */
export function optionsOf(members: OptionMembers): EvaluationOptions | null {
  const { session_id: sessionId, step_id: stepId, timeout: timeoutMs, step_error: stepError } = members;
  const accepts = members.accepts?.length === 0 ? undefined : members.accepts;
  if ((sessionId ?? stepId ?? members.traceparent ?? timeoutMs ?? accepts ?? stepError) === undefined) {
    return null;
  }
  return { sessionId, stepId, traceparent: members.traceparent, timeoutMs, accepts, stepError };
}

/**
 * The options of members as they were sent, read without a schema; undefined if one of them is invalid: then the
 * schema names the problems.
 */
export function wellFormedOptions(
  session_id: JsonValue | undefined,
  step_id: JsonValue | undefined,
  parent: JsonValue | undefined,
  timeout: JsonValue | undefined,
  accepts: JsonValue | undefined,
  step_error: JsonValue | undefined,
): EvaluationOptions | null | undefined {
  if ((session_id ?? step_id ?? parent ?? timeout ?? accepts ?? step_error ?? null) === null) return null;
  const sessionId = session_id ?? undefined;
  const stepId = step_id ?? undefined;
  const traceparent = parent ?? undefined;
  const stepError = step_error ?? undefined;
  const timeoutMs = typeof timeout === 'string' ? millisecondsOf(timeout) : undefined;
  const isTimed =
    (timeout ?? null) === null || (timeoutMs !== undefined && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS);
  if (!isOptionalId(sessionId) || !isOptionalId(stepId) || !isTimed) return undefined;
  if (traceparent !== undefined && !(typeof traceparent === 'string' && isTraceparent(traceparent)))
    return undefined;
  if (!isOptionalError(stepError)) return undefined;
  const words = accepts ?? [];
  if (!isAccepted(words)) return undefined;
  return optionsOf({
    session_id: sessionId,
    step_id: stepId,
    traceparent,
    timeout: timeoutMs,
    accepts: words,
    step_error: stepError,
  });
}

function isOptionalId(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH);
}

function isOptionalError(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value.length <= MAX_STEP_ERROR_LENGTH);
}

function isAccepted(value: JsonValue): value is VerdictOutcome[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_ACCEPTED &&
    value.every((word) => OUTCOME_WORDS.some((one) => one === word))
  );
}
