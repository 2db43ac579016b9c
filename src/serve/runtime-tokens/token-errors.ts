import { callerError, ServiceError } from '../../contract/errors/service-error.js';

/** Tells clients to make a new token: they keep the old one after any other refusal (RFC 6750, section 3). */
const INVALID_TOKEN = 'Bearer error="invalid_token"';

/** The error of calls with a token that does not count. `reason` completes "Invalid runtime token: it …". */
export function invalidRuntimeToken(reason: string, hint = RENEW): ServiceError {
  return callerError('AUTH_INVALID_KEY', {
    detail: `Invalid runtime token: it ${reason}.`,
    hint,
    challenge: INVALID_TOKEN,
  });
}

const RENEW = 'Exchange your key for a new token: POST /api/v1/auth/runtime-token-exchange.';

/** The error of an exchange while no secret is configured. */
export function noTokenSecret(): ServiceError {
  return new ServiceError('AUTH_MISCONFIGURED', {
    detail: 'This service makes no runtime tokens: no secret is configured.',
    hint: 'Evaluate with the API key, or set SERVICE_RUNTIME_TOKEN_SECRETS.',
  });
}

/** The error of an exchange by a caller that may not evaluate. Deployed clients know it with the status 400. */
export function exchangesTooMuch(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'These credentials may not evaluate (scope evaluate), and neither may a token of them.',
    hint: 'Use a key with the scope evaluate, for example one with the role agent.',
    httpStatus: 400,
  });
}

/** The error of an exchange for another target than the one that the caller is limited to. */
export function exchangesOtherTarget(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'These credentials are limited to another target.',
    hint: 'Name the target of the credentials in target_type and target_id.',
    httpStatus: 400,
  });
}

/** The error of an exchange by a caller whose rights have ended meanwhile. */
export function endedGrant(): ServiceError {
  return new ServiceError('AUTH_MISCONFIGURED', {
    detail: 'The rights of these credentials have ended already, so that no token can be made of them.',
    hint: 'Compare the clocks of this service and of what granted the rights.',
    httpStatus: 502,
  });
}

/** The error of an exchange by a caller with more agents than a token has room for. */
export function tooManyAgents(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'The agents of this caller are too many for a token.',
    hint: 'Use patterns in the claim SERVICE_OIDC_AGENTS_CLAIM.',
  });
}
