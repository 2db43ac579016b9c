import { hash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Principal } from '../../contract/call/handler.js';
import type { RoleTable } from '../../contract/call/scopes.js';
import type { OidcSettings } from '../../contract/config/oidc-settings.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { expiredToken, ImpossibleTokenError, invalidToken, undecided } from './credential-errors.js';
import { type IssuerKeys, KeysUnavailableError } from './issuer-keys.js';
import { subjectFingerprint, type TokenClaims, tokenPrincipal } from './token-rights.js';

/** Algorithms of signatures; none with a shared secret, whose key a public one could be mistaken for. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** Types of tokens for callers; others are for other purposes, such as logout tokens. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
/** Three parts in base64url; the first is a JSON object. The last is empty in tokens without a signature. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;
/** Most characters of a token. */
const MAX_LENGTH = 16_384;
/** Most verified tokens that are kept. */
const MAX_VERIFIED = 10_000;
/** Most tokens that are being verified. */
const MAX_VERIFYING = 1_000;
/** Most expired tokens that are remembered. */
const MAX_EXPIRED = 10_000;
/** Between two removals of expired tokens, in milliseconds. */
const SWEEP_MS = 60_000;

/** Tokens of an issuer, verified once and then known until they expire. */
export interface BearerTokens {
  /** Changes with every setting that decides about tokens and their rights. */
  readonly settingsId: string;
  /** The principal of a token that was verified and has not expired. */
  find(token: string): Principal | undefined;
  /** Whether a text is a token that `verify` has to see first. */
  isUnverified(text: string): boolean;
  /**
   * Resolves when `find` knows the token. Rejects with AUTH_INVALID_KEY and the reason, with
   * AUTH_INSUFFICIENT_PRIVILEGES if it has no rights, or with SERVICE_UNAVAILABLE if that cannot be decided.
   */
  verify(token: string): Promise<void>;
  /** The claims of a token of the issuer for this audience. Rejects like `verify`. */
  claimsOf(token: string, audience: string): Promise<TokenClaims>;
  /**
   * Identifies the subject that a token names, like the fingerprint of its principal, before anything is verified;
   * undefined for a text that cannot be a token of the issuer.
   */
  claimedSubject(text: string): string | undefined;
  /** Whether this was a token for this service that has expired: its sender did not guess it. */
  wasValid(text: string): boolean;
  close(): void;
}

export interface BearerTokenOptions {
  readonly settings: OidcSettings;
  readonly keys: Pick<IssuerKeys, 'find'>;
  /** What the roles may do. */
  readonly roles?: RoleTable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called regularly, after expired tokens were removed. */
  readonly onSweep?: () => void;
}

/** `BearerTokens` that also forgets all tokens, when the keys of the issuer have changed. */
export interface ForgetfulTokens extends BearerTokens {
  forget(): void;
}

export function createBearerTokens(options: BearerTokenOptions): ForgetfulTokens {
  const { settings, keys, roles, now, onSweep = () => {} } = options;
  const { issuer, audience, rights, clockToleranceMs } = settings;
  /** By SHA-256, used longest ago first. */
  const verified = new BoundedMap<string, Principal>({ entries: MAX_VERIFIED });
  const verifying = new Map<string, Promise<void>>();
  const expired = new BoundedMap<string, true>({ entries: MAX_EXPIRED });
  /** Increased by `forget`: what was being verified with the keys before is not kept. */
  let generation = 0;

  const isOver = ({ expiresAtMs = 0 }: Principal): boolean => expiresAtMs <= now();
  const sweep = setInterval(() => {
    for (const [digest, principal] of verified) if (isOver(principal)) retire(digest);
    onSweep();
  }, SWEEP_MS).unref();

  function retire(digest: string): void {
    verified.delete(digest);
    expired.set(digest, true);
  }

  function find(token: string): Principal | undefined {
    const digest = digestOf(token);
    const principal = verified.use(digest);
    if (principal === undefined) return undefined;
    if (isOver(principal)) {
      retire(digest);
      return undefined;
    }
    return principal;
  }

  async function claimsOf(token: string, forAudience: string): Promise<TokenClaims> {
    const claimed = claimsWithoutProof(token, issuer);
    if (typeof claimed === 'string') throw invalidToken(claimed, new ImpossibleTokenError());
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header) => keys.find(header), {
        algorithms: ALGORITHMS,
        issuer,
        audience: forAudience,
        requiredClaims: ['iss', 'aud', 'exp', 'sub'],
        clockTolerance: clockToleranceMs / 1000,
        currentDate: new Date(now()),
      });
      if (!TYPES.includes(protectedHeader.typ?.toLowerCase()))
        throw invalidToken('it has another purpose (typ)');
      // Only the holder of its key may use it, which this service does not check.
      if (payload.cnf !== undefined) throw invalidToken('it is bound to a key (cnf)');
      if (payload.sub === '') throw invalidToken('it has no claim sub');
      return payload as TokenClaims;
    } catch (error) {
      throw tokenError(error);
    }
  }

  async function verifyNew(token: string, digest: string): Promise<void> {
    const started = generation;
    try {
      const claims = await claimsOf(token, audience);
      const principal = tokenPrincipal(claims, rights, issuer, claims.exp * 1000 + clockToleranceMs, roles);
      if (started !== generation) return await verifyNew(token, digest);
      verified.set(digest, principal);
    } catch (error) {
      if (error instanceof ServiceError && error.cause instanceof errors.JWTExpired) retire(digest);
      throw error;
    }
  }

  return {
    settingsId: settingsIdOf(settings),
    find,
    isUnverified: (text) =>
      text.startsWith('eyJ') && TOKEN.test(text) && find(text) === undefined && hasAlgorithm(text),
    verify(token) {
      const digest = digestOf(token);
      const known = verifying.get(digest);
      if (known !== undefined) return known;
      if (verifying.size >= MAX_VERIFYING) return Promise.reject(undecided(undefined));
      const made = verifyNew(token, digest).finally(() => verifying.delete(digest));
      verifying.set(digest, made);
      return made;
    },
    claimsOf,
    claimedSubject(text) {
      const claims = claimsWithoutProof(text, issuer);
      return typeof claims === 'string' ? undefined : subjectFingerprint(issuer, String(claims.sub));
    },
    wasValid: (text) => expired.has(digestOf(text)),
    forget() {
      generation += 1;
      verified.clear();
    },
    close: () => clearInterval(sweep),
  };
}

/** What later versions have added is part of it only where it is set: sessions outlast an upgrade. */
function settingsIdOf({ login: _login, ...settings }: OidcSettings): string {
  const { namespaceClaim, roleMap, ...rights } = settings.rights;
  const added = {
    ...(namespaceClaim === null ? {} : { namespaceClaim }),
    ...(roleMap.length === 0 ? {} : { roleMap }),
  };
  const deciding = { ...settings, rights: { ...rights, ...added } };
  return hash('sha256', JSON.stringify(deciding), 'base64url');
}

/** The last token and its digest: a call asks for it several times. */
let last = { token: '', digest: '' };

function digestOf(token: string): string {
  if (last.token !== token) last = { token, digest: hash('sha256', token, 'base64') };
  return last.digest;
}

function hasAlgorithm(text: string): boolean {
  try {
    return typeof decodeProtectedHeader(text).alg === 'string';
  } catch {
    return false;
  }
}

/**
 * The claims of a token that may be of the issuer, or its problem: tokens of others must not make the service ask its
 * issuer for their keys.
 */
function claimsWithoutProof(token: string, issuer: string): JWTPayload | string {
  if (token.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`;
  let claims: JWTPayload;
  let algorithm: string | undefined;
  try {
    claims = decodeJwt(token);
    algorithm = decodeProtectedHeader(token).alg;
  } catch {
    return 'it is malformed';
  }
  if (!ALGORITHMS.includes(algorithm ?? '')) return 'its algorithm (alg) is not accepted';
  return claims.iss === issuer ? claims : 'it is of another issuer (iss)';
}

function tokenError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof KeysUnavailableError) return undecided(error);
  if (error instanceof errors.JWTExpired) return expiredToken(error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (reason === 'missing') return invalidToken(`it has no claim ${claim}`);
    return invalidToken(CLAIM_PROBLEMS[claim] ?? `its claim ${claim} is invalid`);
  }
  if (error instanceof errors.JWKSNoMatchingKey) return invalidToken('its issuer has no such key', error);
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return invalidToken('it names no key (kid), and its issuer has several');
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalidToken('its signature is wrong');
  return invalidToken('it is malformed');
}

const CLAIM_PROBLEMS: Readonly<Record<string, string>> = {
  aud: 'it is for another audience (aud)',
  nbf: 'it is not valid yet (nbf)',
};
