import { callerError, ServiceError } from '../../contract/errors/service-error.js';

/** When a caller may try again, in seconds. */
const RETRY_SECONDS = 1;

/** Who is asked, in texts. */
const SERVICE = 'The service that decides about calls (SERVICE_AUTH_UPSTREAM_URL)';

/** The error of a call that the upstream service refuses with this status; null if that is no refusal. */
export function refusal(status: number): ServiceError | null {
  if (status === 401)
    return callerError('AUTH_INVALID_KEY', {
      detail: 'Invalid credentials: the service that decides about calls does not know them.',
      hint: 'Send credentials of that service.',
    });
  if (status === 403)
    return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
      detail: 'The service that decides about calls does not permit this one.',
      hint: 'Ask its operator for the permission.',
    });
  if (status === 404)
    return callerError('AUTH_INVALID_KEY', {
      detail: 'The service that decides about calls does not know these credentials, or what they ask for.',
      hint: 'Send credentials of that service, and a target that it knows.',
      httpStatus: 404,
    });
  return null;
}

/** The error of a call whose question was answered with a status that is no decision. */
export function undecidedStatus(status: number, retryAfterSeconds: number | undefined): ServiceError {
  if (status === 429)
    return unavailable('takes no more questions at present (429)', undefined, retryAfterSeconds);
  if (status >= 500) return unavailable(`answered with the status ${status}`, undefined, retryAfterSeconds);
  if (status >= 400)
    return new ServiceError('AUTH_UPSTREAM_REJECTED', {
      detail: `${SERVICE} refuses the question about this call with the status ${status}.`,
      hint: 'Ask the operator of that service.',
    });
  return malformed(`has the status ${status}`);
}

/** The error of a call while the upstream service cannot be asked. `reason` completes the sentence about it. */
export function unavailable(
  reason: string,
  cause?: unknown,
  retryAfterSeconds: number = RETRY_SECONDS,
): ServiceError {
  return new ServiceError('AUTH_MISCONFIGURED', {
    detail: `${SERVICE} ${reason}, and without it no call is permitted.`,
    hint: 'Call again later.',
    retryAfterSeconds,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The error of a call that is permitted in a form that cannot be read: what it allows would be unclear. */
export function malformed(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('AUTH_MISCONFIGURED', {
    detail: `The answer of the service that decides about calls cannot be used: it ${problem}.`,
    hint: 'Correct the answers of that service.',
    httpStatus: 502,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The error of a call that is permitted for others than those that it concerns. */
export function notGranted(what: string): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The service that decides about calls permits this one only ${what}.`,
    hint: 'Ask its operator for the permission.',
  });
}
