import { createHash, createHmac } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { createAgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { isScope, type RoleTable, scopeMask } from '../../contract/call/scopes.js';
import { mayBeIn } from './key-ring.js';
import type { KnownKey } from './known-key.js';

export const ALGORITHM = 'HS256';
/** Subject of sessions that were started with a key. */
export const SUBJECT = 'browser-session';
/** Subject of sessions that were started at the issuer. */
export const ISSUER_SUBJECT = 'issuer-session';

/** Loaded for the first session: callers with keys need none of it. */
export const loadJose = () => import('jose');

/** What a token stands for. */
export interface Session {
  readonly principal: Principal & { readonly sessionId: string };
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Identifies a key without revealing it. Unlike the fingerprint in the history of controls it depends on the
 * secret, so a leaked token cannot be used to test guesses of the key.
 */
export function idOfKey(key: KnownKey, secret: Uint8Array): string {
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
export function idOfSession(token: string): string {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');
}

/** What a valid token says; undefined for every other one. */
export async function verifiedClaims(
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

/** The session of a token that was issued for a key; undefined if its key is not there any more. */
export function sessionOf(
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

/** The session of a person of the issuer; undefined if it has other settings now. */
export function issuerSessionOf(
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
