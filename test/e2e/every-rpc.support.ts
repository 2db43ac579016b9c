import type { Json } from '../support/wire-shape.js';

/** Keys of the service that the calls go to. */
export const READER_KEY = 'reader-key';
export const ADMIN_KEY = 'admin-key';

/** What an error looks like over REST and over every other protocol. */
export interface ExpectedError {
  readonly reason: string;
  readonly http: number;
  readonly grpc: string;
  readonly fields?: readonly string[];
}

/** One call of the script. */
export interface Step {
  readonly rpc: string;
  readonly what: string;
  readonly input: { readonly [member: string]: Json };
  /** Admin unless stated. */
  readonly key?: string | null;
  /** Members of the reply, or the error. */
  readonly expected: { readonly reply: object } | { readonly error: ExpectedError };
}

/** The parts of an error; without `fields` they may be any. */
export const error = (
  reason: string,
  http: number,
  grpc: string,
  fields?: string[],
): { error: ExpectedError } => ({
  error: { reason, http, grpc, ...(fields === undefined ? {} : { fields }) },
});
export const NO_AGENT = error('AGENT_NOT_FOUND', 404, 'NotFound', []);
export const NO_CONTROL = error('CONTROL_NOT_FOUND', 404, 'NotFound', []);
export const NO_KEY = error('AUTH_MISSING_KEY', 401, 'Unauthenticated', []);
export const BAD_KEY = error('AUTH_INVALID_KEY', 401, 'Unauthenticated', []);
export const NOT_ADMIN = error('AUTH_INSUFFICIENT_PRIVILEGES', 403, 'PermissionDenied', []);
export const invalid = (...fields: string[]) => error('VALIDATION_ERROR', 422, 'InvalidArgument', fields);
