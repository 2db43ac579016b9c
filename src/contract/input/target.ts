import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { callerError, type ServiceError } from '../errors/service-error.js';
import { type IssueSink, nullable, report, text } from './fields.js';
import { invalidRequest } from './parse-input.js';

/** Longest type and longest id of a target, in UTF-16 code units. */
export const MAX_TARGET_LENGTH = LIMITS.EvaluateRequest.target_type.max;

const part = (): z.ZodType<string | undefined> => nullable(text(LIMITS.EvaluateRequest.target_type));

/** Members that name the target of an agent, or of a binding. They belong together. */
export const targetMembers = { target_type: part(), target_id: part() };

/** Output of `targetMembers`. */
export interface Target {
  readonly target_type?: string | undefined;
  readonly target_id?: string | undefined;
}

/** The target that is named; null without one. */
export function targetNamed({
  target_type: type,
  target_id: id,
}: Target): { readonly type: string; readonly id: string } | null {
  return type === undefined || id === undefined ? null : { type, id };
}

/** Reports a target with a missing half, without a single offending member, as deployed clients expect. */
export function checkTarget(target: Target, sink: IssueSink): void {
  const missing = missingHalf(target);
  if (missing !== null) report(sink, 'value_error', halfProblem(missing), {});
}

/**
 * The same for members in the query: the missing one is the offending member. Throws a VALIDATION_ERROR, with the status
 * 400 that deployed clients expect.
 */
export function demandWholeTarget(target: Target): void {
  const missing = missingHalf(target);
  if (missing !== null) throw halfTarget(missing);
}

function halfTarget(missing: string): ServiceError {
  const message = halfProblem(missing);
  const { options } = invalidRequest([
    { resource: 'Request', field: missing, code: 'missing_target_pair', message },
  ]);
  return callerError('VALIDATION_ERROR', { ...options, httpStatus: 400 });
}

function missingHalf({ target_type, target_id }: Target): 'target_type' | 'target_id' | null {
  if ((target_type === undefined) === (target_id === undefined)) return null;
  return target_type === undefined ? 'target_type' : 'target_id';
}

function halfProblem(missing: string): string {
  return `target_type and target_id belong together, and ${missing} is missing; send both or neither`;
}
