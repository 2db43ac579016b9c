import { randomUUID } from 'node:crypto';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_ROLES, type RoleTable, scopesOf } from '../../contract/call/scopes.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { EndedSessions } from '../sessions/ended-sessions.js';
import type { KeyRing } from './key-ring.js';
import type { KnownKey } from './known-key.js';
import {
  ALGORITHM,
  ISSUER_SUBJECT,
  idOfKey,
  idOfSession,
  issuerSessionOf,
  loadJose,
  type Session,
  SUBJECT,
  sessionOf,
  verifiedClaims,
} from './session-claims.js';

/** How long a session lasts at most, in seconds: 30 days. */
export const MAX_SESSION_SECONDS = 30 * 24 * 60 * 60;

/** Longer tokens are rejected; browsers keep cookies of 4,096 bytes. Those of keys have about 250 characters. */
const MAX_TOKEN_LENGTH = 3_500;
/** Most verified tokens that are cached, so that a session costs one signature check, not one per call. */
const MAX_REMEMBERED = 1_000;

/** Issues and verifies the tokens of browser sessions. */
export interface SessionTokens {
  /** Issues a token for a key. */
  issue(key: KnownKey): Promise<string>;
  /**
   * Issues a token for a person of the issuer, with the rights it has now, until they end. Undefined if it would be
   * too long for a cookie, because of many agents.
   */
  issueFor(principal: Principal, expiresAtMs: number): Promise<string | undefined>;
  /**
   * The principal of a session; undefined if the token is invalid: foreign, modified, expired, from the
   * future, ended, issued for a key that is no longer configured, or with other settings of the issuer. Never rejects
   * because of the token; rejects with SERVICE_UNAVAILABLE when it is not known which sessions were ended.
   */
  read(token: string): Principal | undefined | Promise<Principal | undefined>;
  /**
   * A token for the same session in another namespace, which lasts as long; undefined if the token is invalid. Whether the
   * session may be there is for the caller to check.
   */
  inNamespace(token: string, namespace: string): Promise<SwitchedSession | undefined>;
  /**
   * Ends the session of a valid token before it expires, and does nothing for others. Rejects with
   * SERVICE_UNAVAILABLE if other processes do not learn of it.
   */
  end(token: string): Promise<void>;
}

/** A session that continues in another namespace. */
export interface SwitchedSession {
  readonly token: string;
  /** How long it lasts. */
  readonly seconds: number;
}

export interface SessionTokenOptions {
  /** What the roles may do. */
  readonly roles?: RoleTable;
  readonly keyRing: Pick<KeyRing, 'keys' | 'revision'>;
  readonly secret: Uint8Array;
  /** Identifies the settings of the issuer; undefined without one. */
  readonly issuerSettings?: string | undefined;
  /** How long a session lasts, in seconds, at most 30 days; also applies to tokens that were issued for longer. */
  readonly sessionSeconds: number;
  readonly ended: Pick<EndedSessions, 'has' | 'end'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createSessionTokens({
  keyRing,
  secret,
  roles = DEFAULT_ROLES,
  issuerSettings,
  sessionSeconds,
  ended,
  now,
}: SessionTokenOptions): SessionTokens {
  /** Keys stay the same objects while nothing about them changes. */
  const ids = new WeakMap<KnownKey, string>();
  function idOf(key: KnownKey): string {
    const known = ids.get(key) ?? idOfKey(key, secret);
    ids.set(key, known);
    return known;
  }
  const remembered = new BoundedMap<string, Session>({ entries: MAX_REMEMBERED });
  let principals: ReadonlyMap<string, Principal> = new Map();
  let revision = -1;
  const seconds = (): number => Math.floor(now() / 1000);

  /** A session has the current rights of its key, and ends with it. */
  function follow(): void {
    if (revision === keyRing.revision) return;
    principals = new Map([...keyRing.keys].map((key) => [idOf(key), key.principal]));
    remembered.clear();
    revision = keyRing.revision;
  }

  /** The principal of a session that has not expired, and was not ended. */
  function lasting({
    issuedAt,
    expiresAt,
    principal,
  }: Session): Principal | undefined | Promise<Principal | undefined> {
    const time = seconds();
    if (time < issuedAt || time >= expiresAt) return undefined;
    const isEnded = ended.has(principal.sessionId);
    if (isEnded instanceof Promise) return isEnded.then((found) => (found ? undefined : principal));
    return isEnded ? undefined : principal;
  }

  async function verified(token: string): Promise<Session | undefined> {
    const claims = await verifiedClaims(token, secret, { sessionSeconds, now: new Date(now()) });
    follow();
    const session =
      claims?.sub === ISSUER_SUBJECT
        ? issuerSessionOf(claims, issuerSettings, roles, idOfSession(token))
        : claims && sessionOf(claims, principals, idOfSession(token));
    if (session === undefined) return undefined;
    const { issuedAt, expiresAt } = session;
    const lasts = { ...session, expiresAt: Math.min(expiresAt, issuedAt + sessionSeconds) };
    remembered.set(token, lasts);
    return lasts;
  }

  async function verify(token: string): Promise<Principal | undefined> {
    const session = await verified(token);
    return session && lasting(session);
  }

  return {
    async issue(key) {
      const { SignJWT } = await loadJose();
      const issuedAt = seconds();
      return new SignJWT({ is_admin: key.principal.level === 'admin', key_id: idOf(key) })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(SUBJECT)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + sessionSeconds)
        .sign(secret);
    },
    async issueFor({ level, keyFingerprint, name, agents, role, scopes, ...principal }, expiresAtMs) {
      const { SignJWT } = await loadJose();
      const { namespace, namespaces = [] } = principal;
      const rights = {
        level,
        fingerprint: keyFingerprint,
        name,
        agents: agents?.patterns ?? null,
        ...(role === null ? { scopes: scopesOf(scopes) } : { role }),
        ...(namespace.isDefault ? {} : { namespace: namespace.name }),
        ...(namespaces.length === 0 ? {} : { namespaces: [namespace.name, ...namespaces] }),
      };
      const issuedAt = seconds();
      const token = await new SignJWT({ ...rights, settings: issuerSettings })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(ISSUER_SUBJECT)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(Math.min(Math.floor(expiresAtMs / 1000), issuedAt + sessionSeconds))
        .sign(secret);
      return token.length > MAX_TOKEN_LENGTH ? undefined : token;
    },
    read(token) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      follow();
      const session = remembered.get(token);
      return session === undefined ? verify(token) : lasting(session);
    },
    async inNamespace(token, namespace) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      const lasts = { sessionSeconds, now: new Date(now()) };
      const claims = await verifiedClaims(token, secret, lasts);
      if (claims?.exp === undefined || claims.iat === undefined) return undefined;
      const { SignJWT } = await loadJose();
      const switched = await new SignJWT({ ...claims, jti: randomUUID(), namespace })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .sign(secret);
      const endsAt = Math.min(claims.exp, claims.iat + sessionSeconds);
      return { token: switched, seconds: Math.max(0, endsAt - seconds()) };
    },
    async end(token) {
      if (token.length > MAX_TOKEN_LENGTH) return;
      const session = await verified(token);
      if (session === undefined) return;
      await ended.end({ id: session.principal.sessionId, expiresAtMs: session.expiresAt * 1000 });
    },
  };
}
