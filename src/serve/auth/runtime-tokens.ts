import { createAgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { namespaceNamed } from '../../contract/call/namespace.js';
import { scopeMask } from '../../contract/call/scopes.js';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { TokenClaims } from '../runtime-tokens/token-claims.js';
import type { TokenCodec } from '../runtime-tokens/token-codec.js';
import { invalidRuntimeToken } from '../runtime-tokens/token-errors.js';
import type { KeyRing } from './key-ring.js';

/** The operation of evaluations, which tokens are for. */
export const RUNTIME_OPERATION = 'runtime.use';
/** The operation of the exchange of credentials for a token. */
export const EXCHANGE_OPERATION = 'runtime.token_exchange';

/** Most verified tokens that are kept, and most characters of them. */
const MAX_VERIFIED = 20_000;
const MAX_VERIFIED_LENGTH = 32 * 1024 * 1024;

const EVALUATE = scopeMask(['evaluate']);

/** Tells who sends a token. It waits for nothing, and checks the signature of a token once. */
export interface RuntimeTokens {
  /**
   * The caller with a token: it may only evaluate, for the target of the token. Fails with AUTH_INVALID_KEY and the reason
   * for a token that is forged, has expired, or was made with a key that is not valid any more.
   */
  principalOf(token: string): Principal;
}

export interface RuntimeTokenOptions {
  readonly codec: Pick<TokenCodec, 'verify'>;
  readonly keyRing: Pick<KeyRing, 'revision' | 'byFingerprint'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Verified {
  readonly token: string;
  readonly claims: TokenClaims;
  /** Undefined while the key of the token gives it no rights. */
  principal: Principal | undefined;
  /** Of the keys when the principal was found. */
  revision: number;
}

export function createRuntimeTokens({ codec, keyRing, now }: RuntimeTokenOptions): RuntimeTokens {
  const verified = new BoundedMap<string, Verified>({
    entries: MAX_VERIFIED,
    weight: MAX_VERIFIED_LENGTH,
    weightOf: ({ token }) => token.length,
  });

  /** The rights of its key now, as far as the token has them. */
  function currentRights(claims: TokenClaims): Pick<Principal, 'name' | 'agents'> | undefined {
    const { origin, actor, agents, fingerprint, namespace } = claims;
    if (origin === 'grant') return { name: actor, agents: agents === null ? null : createAgentLimit(agents) };
    const known = keyRing.byFingerprint(fingerprint);
    if (known === undefined || known.expiresAtMs <= now()) return undefined;
    const { principal } = known;
    const fits = principal.namespace.name === namespace && (principal.scopes & EVALUATE) !== 0n;
    return fits ? principal : undefined;
  }

  function principalWith(claims: TokenClaims): Principal | undefined {
    const rights = currentRights(claims);
    if (rights === undefined) return undefined;
    const { origin, fingerprint } = claims;
    const { name, agents } = rights;
    return {
      level: 'key',
      keyFingerprint: fingerprint,
      name,
      agents,
      namespace: namespaceNamed(claims.namespace),
      scopes: EVALUATE,
      role: null,
      target: { type: claims.targetType, id: claims.targetId },
      expiresAtMs: claims.expiresAt * 1000,
      // A change of a key gives it another principal.
      grant: { holds: () => origin === 'grant' || keyRing.byFingerprint(fingerprint)?.principal === rights },
    };
  }

  function verify(token: string, seconds: number): Verified {
    const known = { token, claims: codec.verify(token, seconds), principal: undefined, revision: -1 };
    verified.set(token, known);
    return known;
  }

  return {
    principalOf(token) {
      const seconds = Math.floor(now() / 1000);
      const known = verified.get(token) ?? verify(token, seconds);
      const { claims } = known;
      if (claims.expiresAt <= seconds) {
        verified.delete(token);
        throw expiredRuntimeToken(seconds - claims.expiresAt);
      }
      if (known.revision !== keyRing.revision) {
        known.principal = principalWith(claims);
        known.revision = keyRing.revision;
      }
      if (known.principal === undefined) throw withoutKey();
      return known.principal;
    },
  };
}

function expiredRuntimeToken(seconds: number): ServiceError {
  return invalidRuntimeToken(
    `has expired ${seconds} seconds ago (exp)`,
    'Exchange your key for a new token. If this one is new, compare the clocks of the processes of this service.',
  );
}

function withoutKey(): ServiceError {
  return invalidRuntimeToken(
    'was made with a key that is withdrawn, has expired or may not evaluate any more',
  );
}

/** The error of an evaluation without a token where nothing else is taken. */
export function missingRuntimeToken(): ServiceError {
  return callerError('AUTH_MISSING_KEY', {
    detail: 'Missing credentials: evaluations need a runtime token.',
    hint: 'Exchange your key for one: POST /api/v1/auth/runtime-token-exchange. SERVICE_RUNTIME_AUTH_MODE decides what is taken.',
  });
}
