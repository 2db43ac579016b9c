import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import {
  foreignOrigin,
  missingKey,
  noNamespace,
  otherNamespace,
  tooManyAgents,
} from './credential-errors.js';
import { type KeyRing, mayBeIn } from './key-ring.js';
import type { SessionCredential } from './request-credentials.js';
import type { SessionTokens, SwitchedSession } from './session-tokens.js';

/** Starts, continues and ends sessions of browsers. */
export interface BrowserSessions {
  /** Starts a session for a key; undefined when the key is not configured. Works when disabled, too. */
  logIn(apiKey: string): Promise<NewSession> | undefined;
  /**
   * Starts a session for a person of the issuer, which lasts as long as its rights. Rejects with
   * AUTH_INSUFFICIENT_PRIVILEGES if they are too many for a cookie.
   */
  logInAs(principal: Principal): Promise<NewSession>;
  /**
   * Continues a session in another namespace, with another token; the one before ends. Rejects with AUTH_MISSING_KEY,
   * AUTH_INSUFFICIENT_PRIVILEGES or NAMESPACE_NOT_FOUND, or SERVICE_UNAVAILABLE if other processes do not learn of it.
   */
  switchNamespace(session: SessionCredential, namespace: string): Promise<SwitchedSession>;
  /**
   * Ends a session before it expires; does nothing for a token that is not valid. Rejects with SERVICE_UNAVAILABLE if
   * other processes do not learn of it.
   */
  logOut(token: string): Promise<void>;
}

/** A session that was just started. */
export interface NewSession {
  readonly token: string;
  readonly isAdmin: boolean;
  /** How long it lasts. */
  readonly seconds: number;
}

/** Tells which namespaces exist, besides `default`. */
export interface KnownNamespaces {
  known(name: string): boolean;
}

export interface BrowserSessionsOptions {
  readonly keyRing: Pick<KeyRing, 'find'>;
  readonly sessions: SessionTokens;
  /** How long a session lasts, in seconds. */
  readonly sessionSeconds: number;
  readonly namespaces: KnownNamespaces;
}

export function createBrowserSessions(options: BrowserSessionsOptions): BrowserSessions {
  const { keyRing, sessions, sessionSeconds, namespaces } = options;
  return {
    logIn(apiKey) {
      const known = keyRing.find(apiKey);
      if (known === undefined) return undefined;
      const isAdmin = known.principal.level === 'admin';
      return sessions.issue(known).then((token) => ({ token, isAdmin, seconds: sessionSeconds }));
    },
    async logInAs(principal) {
      const { level, expiresAtMs = 0 } = principal;
      const token = await sessions.issueFor(principal, expiresAtMs);
      if (token === undefined) throw tooManyAgents();
      const seconds = Math.max(0, Math.floor((expiresAtMs - Date.now()) / 1000));
      return { token, isAdmin: level === 'admin', seconds: Math.min(seconds, sessionSeconds) };
    },
    async switchNamespace({ token, foreignOrigin: isForeign }, name) {
      const principal = await sessions.read(token);
      if (principal === undefined) throw missingKey();
      if (isForeign) throw foreignOrigin();
      if (!mayWorkIn(principal, name)) throw otherNamespace();
      if (name !== DEFAULT_NAMESPACE.name && !namespaces.known(name)) throw noNamespace(name);
      const switched = await sessions.inNamespace(token, name);
      if (switched === undefined) throw missingKey();
      await sessions.end(token);
      return switched;
    },
    logOut: (token) => sessions.end(token),
  };
}

/** Whether a session may work in a namespace, if that exists. */
function mayWorkIn(principal: Principal, name: string): boolean {
  const { namespace, namespaces = [] } = principal;
  if (namespace.name === name || namespaces.includes(name)) return true;
  return NAMESPACE_NAME.test(name) && mayBeIn(principal, namespaceNamed(name));
}
