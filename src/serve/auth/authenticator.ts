import { randomBytes } from 'node:crypto';
import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { ANONYMOUS, type Principal } from '../../contract/call/handler.js';
import { DEFAULT_ROLES, type RoleTable, scopeMask } from '../../contract/call/scopes.js';
import type { RuntimeMode } from '../../contract/config/auth-modes.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { unknownNamespace } from '../../contract/errors/unknown-namespace.js';
import { isRuntimeToken } from '../runtime-tokens/token-codec.js';
import type { EndedSessions } from '../sessions/ended-sessions.js';
import type { BearerTokens } from './bearer-tokens.js';
import { type BrowserSessions, createBrowserSessions, type KnownNamespaces } from './browser-sessions.js';
import type { CertificateNames } from './client-certificate.js';
import {
  expiredToken,
  foreignOrigin,
  invalidKey,
  keylessForeignPage,
  missingKey,
  unknownCertificate,
} from './credential-errors.js';
import { type KeyLists, KeyRing } from './key-ring.js';
import { type CredentialKind, missingScope, type ProtectedMethod } from './protected-method.js';
import type { Credentials, SessionCredential } from './request-credentials.js';
import {
  EXCHANGE_OPERATION,
  missingRuntimeToken,
  RUNTIME_OPERATION,
  type RuntimeTokens,
} from './runtime-tokens.js';
import { createSessionTokens, MAX_SESSION_SECONDS } from './session-tokens.js';
import { type UpstreamDecisions, undecidedByUpstream, undecidedCaller } from './upstream-decisions.js';

/** Authenticates and authorizes callers. */
export interface Authenticator extends BrowserSessions {
  /** Whether calls need credentials at all. */
  readonly enabled: boolean;
  /**
   * Returns the principal of the credentials, if it has one of the scopes of the method. A promise only for a
   * session that was not seen before. Fails with AUTH_MISSING_KEY, AUTH_INVALID_KEY or
   * AUTH_INSUFFICIENT_PRIVILEGES.
   */
  authorize(credentials: Credentials, method: ProtectedMethod): Principal | Promise<Principal>;
  /**
   * The same for a caller that has no session, only a key or nothing. Without a key, the names of the certificate of
   * its connection count as one.
   */
  authorizeKey(
    apiKey: string | undefined,
    method: ProtectedMethod,
    certificate?: CertificateNames | undefined,
  ): Principal;
  /**
   * Whether `verify` has to see a key before `authorizeKey` can decide about it: a bearer token, or credentials that
   * another service decides about. Without a method, whether they are valid at all is decided.
   */
  isUnverified(apiKey: string, method?: ProtectedMethod): boolean;
  /**
   * Verifies such a key. Rejects with the error of the call, see `BearerTokens.verify`. Resolves with the caller if another
   * service has decided: what it permits may not be kept.
   */
  verify(token: string, method?: ProtectedMethod): Promise<Principal | undefined>;
  /** The principal of a key or a verified token; undefined when it is not valid. */
  find(apiKey: string): Principal | undefined;
  /** Whether a key or token was valid once, and is not any more. */
  wasValid(apiKey: string): boolean;
  /** Whether the credentials are valid. */
  recognizes(credentials: Credentials): Promise<boolean>;
}

/** What evaluations take besides, or instead of, what other calls take. */
export interface RuntimeAccess {
  readonly mode: RuntimeMode;
  /** Null if no secret is configured. */
  readonly tokens: RuntimeTokens | null;
}

export interface AuthenticatorOptions extends KeyLists {
  readonly enabled: boolean;
  /** Secret that signs sessions. Without one, sessions end with the process. */
  readonly sessionSecret?: string | null;
  /** The keys; by default those of the lists. */
  readonly keyRing?: KeyRing;
  /** Bearer tokens that are taken beside keys. */
  readonly tokens?: BearerTokens | undefined;
  /** How long a session lasts, in seconds; 30 days by default, which is the most. */
  readonly sessionSeconds?: number;
  /** The namespaces that exist: callers of others are refused. By default, only `default` does. */
  readonly namespaces?: KnownNamespaces;
  /** What the roles may do. */
  readonly roles?: RoleTable;
  /** What evaluations take; by default what other calls take. */
  readonly evaluations?: RuntimeAccess;
  /** The service that decides about callers instead of the keys, sessions and tokens. */
  readonly decisions?: UpstreamDecisions | undefined;
  /** The sessions that were ended. */
  readonly endedSessions: Pick<EndedSessions, 'has' | 'end'>;
}

const RANDOM_SECRET_BYTES = 32;
const ONLY_DEFAULT: KnownNamespaces = { known: () => false };
const LIKE_OTHER_CALLS: RuntimeAccess = { mode: 'auth', tokens: null };
/** What is asked when only the validity of credentials is of interest: the least that a caller may do. */
const ANY_CALL: ProtectedMethod = {
  access: Access.KEY,
  scopes: ['server.read'],
  scopeMask: scopeMask(['server.read']),
  operation: 'server.read',
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { enabled, sessionSecret = null, keyRing = new KeyRing(options), tokens } = options;
  const { sessionSeconds = MAX_SESSION_SECONDS, endedSessions } = options;
  const { namespaces = ONLY_DEFAULT, roles = DEFAULT_ROLES } = options;
  const { evaluations: runtime = LIKE_OTHER_CALLS, decisions: upstream } = options;
  const secret = sessionSecret === null ? randomBytes(RANDOM_SECRET_BYTES) : Buffer.from(sessionSecret);
  const sessions = createSessionTokens({
    keyRing,
    secret,
    roles,
    issuerSettings: tokens?.settingsId,
    sessionSeconds,
    ended: endedSessions,
    now: () => Date.now(),
  });

  const startedSessions = createBrowserSessions({ keyRing, sessions, sessionSeconds, namespaces });

  function ofSession(
    principal: Principal | undefined,
    session: SessionCredential,
    method: ProtectedMethod,
  ): Principal {
    if (principal === undefined) throw missingKey();
    if (session.foreignOrigin) throw foreignOrigin();
    keyRing.noteUse(principal);
    return permitted(principal, method, 'session');
  }

  function authorizeKey(
    apiKey: string | undefined,
    method: ProtectedMethod,
    certificate?: CertificateNames | undefined,
  ): Principal {
    if (!enabled || method.access === Access.PUBLIC) return ANONYMOUS;
    if (runtime.mode !== 'auth' && method.operation === RUNTIME_OPERATION) {
      if (runtime.mode === 'none') return ANONYMOUS;
      const { tokens: runtimeTokens } = runtime;
      if (runtimeTokens !== null && isTokenOf(apiKey))
        return permitted(runtimeTokens.principalOf(apiKey), method, 'token');
      if (runtime.mode === 'jwt') throw missingRuntimeToken();
    }
    if (upstream !== undefined) {
      const decided = decidedCaller(upstream, apiKey, method);
      // It is asked for the target, which only the request tells.
      return decided === null ? undecidedCaller(method) : permitted(decided, method, 'key');
    }
    if (apiKey === undefined) return permitted(ofCertificate(keyRing, certificate), method, 'key');
    const known = keyRing.find(apiKey);
    if (known === undefined) return ofToken(apiKey, method);
    return permitted(known.principal, method, 'key');
  }

  /** Whether a key of an evaluation counts as a runtime token. */
  function isTokenOf(apiKey: string | undefined): apiKey is string {
    return apiKey !== undefined && (runtime.mode === 'jwt' || isRuntimeToken(apiKey));
  }

  function ofToken(token: string, method: ProtectedMethod): Principal {
    const principal = tokens?.find(token);
    if (principal === undefined) throw tokens?.wasValid(token) === true ? expiredToken() : invalidKey();
    return permitted(principal, method, 'token');
  }

  const find = (apiKey: string): Principal | undefined =>
    keyRing.find(apiKey)?.principal ?? tokens?.find(apiKey);

  /** The check of every call: whether its caller has a scope of the method, in a namespace that exists. */
  function permitted(principal: Principal, method: ProtectedMethod, kind: CredentialKind): Principal {
    const { namespace, scopes } = principal;
    if (!namespace.isDefault && !namespaces.known(namespace.name)) throw unknownNamespace(namespace.name);
    if ((scopes & method.scopeMask) === 0n) throw missingScope(principal, method, kind, roles);
    return principal;
  }

  return {
    enabled,
    authorizeKey,
    authorize({ apiKey, session, foreignPage }, method) {
      if (foreignPage === true) throw keylessForeignPage();
      if (!enabled || method.access === Access.PUBLIC) return ANONYMOUS;
      if (apiKey !== undefined || session === undefined) return authorizeKey(apiKey, method);
      const principal = sessions.read(session.token);
      return principal instanceof Promise
        ? principal.then((found) => ofSession(found, session, method))
        : ofSession(principal, session, method);
    },
    isUnverified(apiKey, method = ANY_CALL) {
      if (!enabled) return false;
      if (upstream !== undefined) return needsUpstream(upstream, runtime.mode, apiKey, method);
      if (tokens === undefined || (runtime.mode === 'jwt' && method.operation === RUNTIME_OPERATION))
        return false;
      return !isRuntimeToken(apiKey) && tokens.isUnverified(apiKey) && keyRing.find(apiKey) === undefined;
    },
    async verify(token, method = ANY_CALL) {
      if (upstream !== undefined) return permitted(await upstream.ask(token, method), method, 'key');
      if (tokens === undefined) throw invalidKey();
      await tokens.verify(token);
      return undefined;
    },
    find(apiKey) {
      return upstream === undefined ? find(apiKey) : findDecided(upstream, apiKey);
    },
    wasValid: (apiKey) => keyRing.wasValid(apiKey) || tokens?.wasValid(apiKey) === true,
    async recognizes({ apiKey, session }) {
      if (apiKey !== undefined) return find(apiKey) !== undefined;
      if (session === undefined) return false;
      try {
        return (await sessions.read(session.token)) !== undefined;
      } catch (error) {
        // While it is not known which sessions were ended, none counts.
        if (error instanceof ServiceError) return false;
        throw error;
      }
    },
    ...startedSessions,
  };
}

function ofCertificate(keyRing: KeyRing, certificate: CertificateNames | undefined): Principal {
  if (certificate === undefined) throw missingKey();
  const known = certificate.validToMs > Date.now() ? keyRing.findCertificate(certificate.ids) : undefined;
  if (known === undefined) throw unknownCertificate();
  return known.principal;
}

/** The caller as far as another service has decided already; null for an exchange, about which it is asked later. */
function decidedCaller(
  from: UpstreamDecisions,
  apiKey: string | undefined,
  method: ProtectedMethod,
): Principal | null {
  if (apiKey === undefined) throw missingKey();
  if (method.operation === EXCHANGE_OPERATION) return null;
  const principal = from.find(apiKey, method);
  if (principal === undefined) throw undecidedByUpstream();
  return principal;
}

function needsUpstream(
  from: UpstreamDecisions,
  mode: RuntimeMode,
  apiKey: string,
  method: ProtectedMethod,
): boolean {
  if (method.operation === EXCHANGE_OPERATION) return false;
  const isRuntime = mode !== 'auth' && method.operation === RUNTIME_OPERATION;
  if (isRuntime && (mode !== 'both' || isRuntimeToken(apiKey))) return false;
  return !from.knows(apiKey, method);
}

function findDecided(from: UpstreamDecisions, apiKey: string): Principal | undefined {
  try {
    return from.find(apiKey, ANY_CALL);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
