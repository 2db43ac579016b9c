import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { Principal } from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { CertificateNames } from '../auth/client-certificate.js';
import { isImpossibleToken } from '../auth/credential-errors.js';
import type { ProtectedMethod } from '../auth/protected-method.js';
import type { Credentials } from '../auth/request-credentials.js';
import { isRuntimeToken } from '../runtime-tokens/token-codec.js';
import type { Admission } from './admission.js';
import { type ClassifiedMethod, callClassOf } from './call-class.js';
import type { CallTicket } from './call-ticket.js';
import type { KeyGuessing, KeyPlace } from './key-guessing.js';

/** The checks of every call before its body is read, in every protocol: load, access, and key limits. */
export interface Entrance {
  /**
   * Returns the caller if the call may run; its ticket counts it from then on. A promise only for a session or a
   * bearer token that was not seen before. Fails with SERVICE_UNAVAILABLE, AUTH_MISSING_KEY, AUTH_INVALID_KEY,
   * AUTH_INSUFFICIENT_PRIVILEGES or RATE_LIMITED.
   */
  enter(
    ticket: CallTicket,
    method: ClassifiedMethod,
    credentials: Credentials,
  ): Principal | Promise<Principal>;
  /** The same for a caller that has no session, only a key or nothing. */
  enterWithKey(ticket: CallTicket, method: ClassifiedMethod, apiKey: string | undefined): Principal;
  /**
   * Whether something must be awaited to decide about a key, such as a bearer token that was not seen before: its call
   * cannot enter with `enterWithKey`. Without a method, whether the key is known at all is decided.
   */
  isUnverified(apiKey: string | undefined, method?: ProtectedMethod): boolean;
  /**
   * Verifies such a key, which counts as a guess if it is wrong. Rejects with the error of its call. Resolves with the
   * caller if that is decided with it.
   */
  verify(ticket: CallTicket, token: string, method?: ProtectedMethod): Promise<Principal | undefined>;
  /**
   * Runs a check of a key that a caller sent: a wrong key counts as a guess, and after too many guesses no
   * key is checked. `look` returns undefined for a wrong key. Fails with RATE_LIMITED.
   */
  guess<T>(place: KeyPlace, ticket: CallTicket, apiKey: string, look: () => T | undefined): T | undefined;
}

export interface EntranceOptions {
  readonly admission: Admission;
  readonly authenticator: Authenticator;
  readonly guessing: KeyGuessing;
}

/** Cost of a refused call, in units of a simple request. */
const REFUSED_CALL_UNITS = 1;

export function createEntrance({ admission, authenticator, guessing }: EntranceOptions): Entrance {
  function admitted(ticket: CallTicket, principal: Principal): Principal {
    const { keyFingerprint } = principal;
    if (keyFingerprint === null) return principal;
    const before = ticket.peer?.owner;
    ticket.takePlace(principal);
    if (before !== ticket.peer?.owner || ticket.isForwarded) guessing.right(ticket.address, keyFingerprint);
    return principal;
  }

  /** Throws the error for bad credentials, or RATE_LIMITED if calls without a valid key exceed the rate. */
  function refused(ticket: CallTicket, error: unknown, apiKey: string | undefined): never {
    if (error instanceof ServiceError && isUnauthenticated(error)) {
      // Clients whose keys were withdrawn guess nothing, and must not shut their address out.
      if (apiKey !== undefined && error.options.challenge === undefined && !authenticator.wasValid(apiKey))
        guessing.shown('call', ticket.address, apiKey, false);
      ticket.spendPublic(REFUSED_CALL_UNITS);
    }
    throw error;
  }

  function enterWithKey(
    ticket: CallTicket,
    method: ClassifiedMethod,
    apiKey: string | undefined,
    certificate: CertificateNames | undefined,
  ): Principal {
    admission.checkLoad(callClassOf(method));
    if (method.access === Access.PUBLIC || !authenticator.enabled)
      return authenticator.authorizeKey(apiKey, method);
    // Signatures cannot be guessed.
    if (apiKey !== undefined && !isRuntimeToken(apiKey)) guessing.check('call', ticket.address, apiKey);
    let principal: Principal;
    try {
      principal = authenticator.authorizeKey(apiKey, method, certificate);
    } catch (error) {
      return refused(ticket, error, apiKey);
    }
    return admitted(ticket, principal);
  }

  const isUnverified = (apiKey: string | undefined, method?: ProtectedMethod): apiKey is string =>
    apiKey !== undefined && authenticator.isUnverified(apiKey, method);

  async function verify(
    ticket: CallTicket,
    token: string,
    method?: ProtectedMethod,
  ): Promise<Principal | undefined> {
    guessing.check('token', ticket.address, token);
    try {
      return await authenticator.verify(token, method);
    } catch (error) {
      const isGuess =
        error instanceof ServiceError &&
        isUnauthenticated(error) &&
        !isImpossibleToken(error) &&
        !authenticator.wasValid(token);
      if (isGuess) guessing.shown('token', ticket.address, token, false);
      ticket.spendPublic(REFUSED_CALL_UNITS);
      throw error;
    }
  }

  return {
    isUnverified,
    verify,
    enterWithKey: (ticket, method, apiKey) => enterWithKey(ticket, method, apiKey, ticket.peer?.certificate),
    enter(ticket, method, credentials) {
      const { apiKey, session, foreignPage, foreignOrigin } = credentials;
      const isByKey = session === undefined || apiKey !== undefined;
      if (isByKey && foreignPage !== true) {
        if (method.access !== Access.PUBLIC && isUnverified(apiKey, method)) {
          admission.checkLoad(callClassOf(method));
          return verify(ticket, apiKey, method).then((found) =>
            found === undefined ? enterWithKey(ticket, method, apiKey, undefined) : admitted(ticket, found),
          );
        }
        const certificate = foreignOrigin === true ? undefined : ticket.peer?.certificate;
        return enterWithKey(ticket, method, apiKey, certificate);
      }
      admission.checkLoad(callClassOf(method));
      const fail = (error: unknown): never => refused(ticket, error, undefined);
      try {
        const principal = authenticator.authorize(credentials, method);
        if (!(principal instanceof Promise)) return admitted(ticket, principal);
        return principal.then((found) => admitted(ticket, found), fail);
      } catch (error) {
        return fail(error);
      }
    },
    guess(place, ticket, apiKey, look) {
      guessing.check(place, ticket.address, apiKey);
      const found = look();
      if (found !== undefined || !authenticator.wasValid(apiKey))
        guessing.shown(place, ticket.address, apiKey, found !== undefined);
      return found;
    },
  };
}

function isUnauthenticated({ code }: ServiceError): boolean {
  return code === 'AUTH_MISSING_KEY' || code === 'AUTH_INVALID_KEY';
}
