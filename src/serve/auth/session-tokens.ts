import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { createAgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { DEFAULT_ROLES, isScope, type RoleTable, scopeMask, scopesOf } from '../../contract/call/scopes.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { EndedSessions } from '../sessions/ended-sessions.js';
import { type KeyRing, mayBeIn } from './key-ring.js';
import type { KnownKey } from './known-key.js';

/** How long a session lasts at most, in seconds: 30 days. */
export const MAX_SESSION_SECONDS = 30 * 24 * 60 * 60;

const ALGORITHM = 'HS256';
const SUBJECT = 'browser-session';
/** Subject of sessions that were started at the issuer. */
const ISSUER_SUBJECT = 'issuer-session';
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

/** Loaded for the first session: callers with keys need none of it. */
const loadJose = () => import('jose');

interface Session {
  readonly principal: Principal & { readonly sessionId: string };
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
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
    const known = ids.get(key) ?? keyId(key, secret);
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

/**
 * Identifies a key without revealing it. Unlike the fingerprint in the history of controls it depends on the
 * secret, so a leaked token cannot be used to test guesses of the key.
 */
function keyId(key: KnownKey, secret: Uint8Array): string {
  return createHmac('sha256', secret)
    .update('session key:')
    .update(key.digest)
    .digest('base64url')
    .slice(0, 22);
}

/**
 * Identifies a session by what its token signs. The text of the signature is not part of it: its last character has
 * bits that count for nothing, so a signature has several texts.
 */
function idOfSession(token: string): string {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');
}

async function verifiedClaims(
  token: string,
  secret: Uint8Array,
  { sessionSeconds, now }: { readonly sessionSeconds: number; readonly now: Date },
): Promise<JWTPayload | undefined> {
  const { errors, jwtVerify } = await loadJose();
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      requiredClaims: ['sub', 'iat', 'exp'],
      // Also rejects a time of issue in the future.
      maxTokenAge: sessionSeconds,
      currentDate: now,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function sessionOf(
  { sub, is_admin: isAdmin, key_id: id, namespace: name, iat, exp }: JWTPayload,
  principals: ReadonlyMap<string, Principal>,
  sessionId: string,
): Session | undefined {
  if (sub !== SUBJECT || typeof isAdmin !== 'boolean' || typeof id !== 'string') return undefined;
  if (iat === undefined || exp === undefined) return undefined;
  const principal = principals.get(id);
  if (principal === undefined) return undefined;
  if (name === undefined) return { principal: { ...principal, sessionId }, issuedAt: iat, expiresAt: exp };
  const namespace = namespaceOf(name);
  // The key may have lost the right to be there.
  if (namespace === undefined || !mayBeIn(principal, namespace)) return undefined;
  return { principal: { ...principal, namespace, sessionId }, issuedAt: iat, expiresAt: exp };
}

function namespaceOf(name: unknown) {
  return typeof name === 'string' && NAMESPACE_NAME.test(name) ? namespaceNamed(name) : undefined;
}

/** What `issueFor` has signed needs no further checks. */
interface IssuerClaims {
  /** Absent in sessions of earlier versions, and if it has scopes of several roles. */
  readonly role?: string;
  readonly scopes?: readonly string[];
  /** Absent for `default`. */
  readonly namespace?: string;
  /** Those of the person; absent if it is one. */
  readonly namespaces?: readonly string[];
  readonly settings?: string;
  readonly level: 'key' | 'admin';
  readonly fingerprint: string;
  readonly name: string;
  readonly agents: readonly string[] | null;
}

function issuerSessionOf(
  claims: JWTPayload,
  issuerSettings: string | undefined,
  table: RoleTable,
  sessionId: string,
): Session | undefined {
  const read = claims as JWTPayload & IssuerClaims;
  const { settings, level, fingerprint, name, agents, scopes, namespaces = [] } = read;
  const { iat, exp } = claims;
  if (iat === undefined || exp === undefined) return undefined;
  if (issuerSettings === undefined || settings !== issuerSettings) return undefined;
  const role = scopes !== undefined ? null : (read.role ?? (level === 'admin' ? 'admin' : 'regular'));
  const namespace = read.namespace === undefined ? DEFAULT_NAMESPACE : namespaceNamed(read.namespace);
  const others = namespaces.filter((one) => one !== namespace.name);
  const principal = {
    level,
    namespace,
    ...(others.length === 0 ? {} : { namespaces: others }),
    scopes: role === null ? scopeMask((scopes ?? []).filter(isScope)) : (table.get(role)?.scopes ?? 0n),
    role,
    target: null,
    keyFingerprint: fingerprint,
    name,
    agents: agents === null ? null : createAgentLimit(agents),
    expiresAtMs: exp * 1000,
    sessionId,
  };
  return { principal, issuedAt: iat, expiresAt: exp };
}
