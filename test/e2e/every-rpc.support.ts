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
  readonly key: string | null;
  /** Members of the reply, or the error. */
  readonly expected: { readonly reply: object } | { readonly error: ExpectedError };
}

/** A call of one RPC; the key is that of an admin unless stated. */
export type Call = readonly [
  what: string,
  input: Step['input'],
  expected: Step['expected'],
  key?: string | null,
];

export function called(rpc: string, ...[what, input, expected, key = ADMIN_KEY]: Call): Step {
  return { rpc, what, input, expected, key };
}

/** Calls of one RPC that follow each other. */
export const steps = (rpc: string, calls: readonly Call[]): Step[] =>
  calls.map((call) => called(rpc, ...call));

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
export const NO_POLICY = error('POLICY_NOT_FOUND', 404, 'NotFound', []);
export const NO_CONTROL = error('CONTROL_NOT_FOUND', 404, 'NotFound', []);
export const NO_KEY = error('AUTH_MISSING_KEY', 401, 'Unauthenticated', []);
export const BAD_KEY = error('AUTH_INVALID_KEY', 401, 'Unauthenticated', []);
export const NOT_ADMIN = error('AUTH_INSUFFICIENT_PRIVILEGES', 403, 'PermissionDenied', []);
/** The name of another one, by kind. */
export const nameTaken = (kind: string) =>
  error(`${kind}_NAME_CONFLICT`, 409, 'AlreadyExists', ['name name_conflict']);
export const CONTROL_IN_USE = error('CONTROL_IN_USE', 409, 'FailedPrecondition', ['controls control_in_use']);
export const invalid = (...fields: string[]) => error('VALIDATION_ERROR', 422, 'InvalidArgument', fields);

/** A request to evaluate a text before an llm step. */
export const evaluation = (agentName: string, input: string) => ({
  agent_name: agentName,
  stage: 'pre',
  detail: 'full',
  step: { type: 'llm', name: 'answer', input },
});
