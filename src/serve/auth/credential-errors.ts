import { callerError, ServiceError } from '../../contract/errors/service-error.js';

/** The error for a session that asks for a namespace of others. */
export function otherNamespace(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'This session may not work in that namespace.',
    hint: 'Choose one of the namespaces in GetServerInfo, or log in with a key of that namespace.',
  });
}

/** The error for a session that asks for a namespace that does not exist. */
export function noNamespace(name: string): ServiceError {
  return callerError('NAMESPACE_NOT_FOUND', {
    detail: `The namespace "${name}" was not found.`,
    hint: 'Choose one that exists.',
    name,
    kind: 'Namespace',
  });
}

/** The error of a call without credentials. */
export function missingKey(): ServiceError {
  return callerError('AUTH_MISSING_KEY', {
    detail: 'Missing credentials: this call needs an API key.',
    hint: 'Send the key as X-API-Key or as Authorization: Bearer KEY (metadata over gRPC), or log in from a browser.',
  });
}

/** The error of a call with an unknown key. */
export function invalidKey(): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: 'Invalid API key: it is not known to this service.',
    hint: 'Send the key exactly as configured, without blanks or quotes.',
  });
}

/** The error of a call with a client certificate of no known name. */
export function unknownCertificate(): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: 'The client certificate of this connection has no name that is known to this service.',
    hint: 'Add one of its names to the keys file (SERVICE_KEYS_FILE), or send an API key.',
  });
}

/** The error of a stream whose browser session was ended. */
export function endedSession(): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: 'The browser session of this call was ended.',
    hint: 'Log in again.',
  });
}

/** The error of a stream whose key is no longer valid. */
export function withdrawnKey(): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: 'The API key of this call was withdrawn, or has expired.',
    hint: 'Call again with a valid key.',
  });
}

/** The error of a login whose rights do not fit into a cookie. */
export function tooManyAgents(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'The agents and namespaces of this person are too many for a session.',
    hint: 'Use patterns in the claim SERVICE_OIDC_AGENTS_CLAIM, and fewer namespaces in SERVICE_OIDC_NAMESPACE_CLAIM.',
  });
}

/** The error for a page of another origin that tries to act with a session. */
export function foreignOrigin(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'Pages of this origin may not act in the name of a browser session.',
    hint: 'Call from the same origin, list the origin in SERVICE_CORS_ORIGINS, or send an API key.',
  });
}

/** The error for a page of another origin that tries to make changes while no key is required. */
export function keylessForeignPage(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'Without API keys, only pages on localhost and of listed origins may do this.',
    hint: 'List the origin of the page in SERVICE_CORS_ORIGINS, or turn API keys on (SERVICE_API_KEY_ENABLED).',
  });
}

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
