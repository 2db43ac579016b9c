import { createHmac } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Principal } from '../../contract/call/handler.js';
import type { KeyRing } from './key-ring.js';
import type { KnownKey } from './known-key.js';

/** How long a session lasts, in seconds. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;

const ALGORITHM = 'HS256';
const SUBJECT = 'browser-session';
/** Tokens have about 250 characters; longer ones are rejected. */
const MAX_TOKEN_LENGTH = 1_024;
/** Most verified tokens that are cached, so that a session costs one signature check, not one per call. */
const MAX_REMEMBERED = 1_000;

/** Issues and verifies the tokens of browser sessions. */
export interface SessionTokens {
  /** Issues a token for a key. */
  issue(key: KnownKey): Promise<string>;
  /**
   * The principal of a session; undefined if the token is invalid: foreign, modified, expired, from the
   * future, or issued for a key that is no longer configured. Never rejects because of the token.
   */
  read(token: string): Principal | undefined | Promise<Principal | undefined>;
}

export interface SessionTokenOptions {
  readonly keyRing: Pick<KeyRing, 'keys' | 'revision'>;
  readonly secret: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Session {
  readonly principal: Principal;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export function createSessionTokens({ keyRing, secret, now }: SessionTokenOptions): SessionTokens {
  const idOf = (key: KnownKey): string => keyId(key, secret);
  const remembered = new Map<string, Session>();
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

  function lasting(session: Session): Principal | undefined {
    const time = seconds();
    return session.issuedAt <= time && time < session.expiresAt ? session.principal : undefined;
  }

  async function verify(token: string): Promise<Principal | undefined> {
    const claims = await verifiedClaims(token, secret, new Date(now()));
    follow();
    const session = claims && sessionOf(claims, principals);
    if (session === undefined) return undefined;
    if (remembered.size >= MAX_REMEMBERED) forgetOldest(remembered);
    remembered.set(token, session);
    return lasting(session);
  }

  return {
    issue(key) {
      const issuedAt = seconds();
      return new SignJWT({ is_admin: key.principal.level === 'admin', key_id: idOf(key) })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(SUBJECT)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + SESSION_SECONDS)
        .sign(secret);
    },
    read(token) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      follow();
      const session = remembered.get(token);
      return session === undefined ? verify(token) : lasting(session);
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

async function verifiedClaims(token: string, secret: Uint8Array, now: Date): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      subject: SUBJECT,
      requiredClaims: ['sub', 'is_admin', 'key_id', 'iat', 'exp'],
      // Also rejects a time of issue in the future.
      maxTokenAge: SESSION_SECONDS,
      currentDate: now,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function sessionOf(
  { is_admin: isAdmin, key_id: id, iat, exp }: JWTPayload,
  principals: ReadonlyMap<string, Principal>,
): Session | undefined {
  if (typeof isAdmin !== 'boolean' || typeof id !== 'string') return undefined;
  if (iat === undefined || exp === undefined) return undefined;
  const principal = principals.get(id);
  return principal && { principal, issuedAt: iat, expiresAt: exp };
}

function forgetOldest(remembered: Map<string, Session>): void {
  for (const token of remembered.keys()) {
    remembered.delete(token);
    return;
  }
}
