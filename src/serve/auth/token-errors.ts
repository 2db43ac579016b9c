import { callerError, ServiceError } from '../../contract/errors/service-error.js';

/** Why a token was refused before any signature was checked. */
export class ImpossibleTokenError extends Error {}

/** Of the error of jose for a token whose issuer has no key of that name; jose itself is loaded for an issuer only. */
const NO_MATCHING_KEY = 'ERR_JWKS_NO_MATCHING_KEY';

/** Whether an error is about a token that was refused before its signature was checked: nothing was guessed. */
export function isImpossibleToken({ cause }: ServiceError): boolean {
  if (cause instanceof ImpossibleTokenError) return true;
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === NO_MATCHING_KEY;
}

export function invalidToken(reason: string, cause?: Error): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: `Invalid bearer token: ${reason}.`,
    hint: 'Send an access token that the issuer of this service made for it, or an API key.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The error of calls whose token is over, and of streams at that time. */
export function expiredToken(cause?: unknown): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: 'Invalid bearer token: it has expired.',
    hint: 'Call again with a new token.',
    cause,
  });
}

/** The error of calls with a token that may be valid. */
export function undecided(cause: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: 'The bearer token cannot be verified now: the keys of its issuer are not available.',
    hint: 'Call again later, or with an API key.',
    retryAfterSeconds: 5,
    cause,
  });
}
