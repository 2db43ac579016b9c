/** Why a call is refused, as the protocols have it. */
export interface Refusal {
  /** The code of the error, for example `CONTROL_NOT_FOUND`; '' where the answer is outside the format of problems. */
  readonly reason: string;
  /** Status of the JSON routes. */
  readonly http: number;
  /** Name of the code of everything else. */
  readonly grpc: string;
  /** What is wrong with which members, as `field code`; without it, they may be any. */
  readonly fields?: readonly string[];
}

export function refusal(reason: string, http: number, grpc: string, fields?: readonly string[]): Refusal {
  return { reason, http, grpc, ...(fields === undefined ? {} : { fields }) };
}

/** A refusal, or what is wrong with members of the request, as `field code`, where that is all. */
export type Refused = Refusal | string | readonly string[];

export function refusalOf(refused: Refused): Refusal {
  if (typeof refused === 'object' && 'reason' in refused) return refused;
  return refusal('VALIDATION_ERROR', 422, 'InvalidArgument', [refused].flat());
}

/** The name of another one, by kind. */
export const nameTaken = (kind: string) =>
  refusal(`${kind}_NAME_CONFLICT`, 409, 'AlreadyExists', ['name name_conflict']);

export const NO_AGENT = refusal('AGENT_NOT_FOUND', 404, 'NotFound', []);
export const NO_POLICY = refusal('POLICY_NOT_FOUND', 404, 'NotFound', []);
export const NO_CONTROL = refusal('CONTROL_NOT_FOUND', 404, 'NotFound', []);
export const CONTROL_IN_USE = refusal('CONTROL_IN_USE', 409, 'FailedPrecondition', [
  'controls control_in_use',
]);
export const DUPLICATE_STEP = refusal('VALIDATION_ERROR', 400, 'InvalidArgument', [
  'name duplicate_step_name',
]);
export const TOO_LARGE = refusal('PAYLOAD_TOO_LARGE', 413, 'ResourceExhausted', []);
export const NO_KEY = refusal('AUTH_MISSING_KEY', 401, 'Unauthenticated', []);
export const BAD_KEY = refusal('AUTH_INVALID_KEY', 401, 'Unauthenticated', []);
export const NOT_ADMIN = refusal('AUTH_INSUFFICIENT_PRIVILEGES', 403, 'PermissionDenied', []);

/** What a JSON route answers a refused request with, with more members of the body where they are named. */
export const problem = (status: number, error_code: string, more: object = {}) => ({
  status,
  body: { error_code, ...more },
});
