import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { AGENT_PATTERN } from '../../contract/call/agent-limit.js';
import { NAMESPACE_NAME } from '../../contract/call/namespace.js';
import { MAX_TOKEN_SECONDS } from '../../contract/config/auth-modes.js';
import { MAX_TARGET_LENGTH } from '../../contract/input/target.js';
import { invalidRuntimeToken } from './token-errors.js';

/** The name of this service in its tokens. */
export const TOKEN_ISSUER = 'control-enforcement';
/** What tokens are for: a token of another domain is for something else. */
export const TOKEN_DOMAIN = 'runtime';
/** The one scope of tokens, by the name that deployed clients know. */
export const TOKEN_SCOPE = 'runtime.use';
/** How far the clock of the process that made a token may be ahead, in seconds. */
const MAX_AHEAD_SECONDS = 60;

/**
 * What the rights of a token follow from: those of a key that is configured now, or those that a token of an issuer or an
 * upstream service had when it was exchanged.
 */
export type TokenOrigin = 'key' | 'grant';

/** The claims of a token. Times are in seconds since 1970. */
export interface TokenClaims {
  readonly namespace: string;
  /** Names the caller in logs. */
  readonly actor: string;
  readonly origin: TokenOrigin;
  /** Identifies the caller: its limits are those of its other calls. */
  readonly fingerprint: string;
  /** The agents that the caller is limited to; null for all, and for tokens of keys, which follow their keys. */
  readonly agents: readonly string[] | null;
  readonly targetType: string;
  readonly targetId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly id: string;
}

/** The claims as they are signed. */
export function printedClaims(claims: TokenClaims): JsonObject {
  return {
    iss: TOKEN_ISSUER,
    domain: TOKEN_DOMAIN,
    namespace_key: claims.namespace,
    actor_id: claims.actor,
    target_type: claims.targetType,
    target_id: claims.targetId,
    scopes: [TOKEN_SCOPE],
    iat: claims.issuedAt,
    exp: claims.expiresAt,
    jti: claims.id,
    origin: claims.origin,
    fingerprint: claims.fingerprint,
    ...(claims.agents === null ? {} : { agents: [...claims.agents] }),
  };
}

/** Claims that restrict a token in ways that this service does not check. */
const UNSUPPORTED = ['aud', 'nbf', 'cnf', 'crit'];
const FINGERPRINT = /^[0-9a-f]{12}$/;
const MAX_ACTOR_LENGTH = 255;
const MAX_ID_LENGTH = 64;

/**
 * The claims of a token whose signature is right. Fails with AUTH_INVALID_KEY and the first claim that is missing or not
 * of its form, and for a token from the future; not for one that has expired. `now` is in seconds since 1970.
 */
export function readClaims(payload: JsonValue, now: number): TokenClaims {
  if (!isObject(payload)) throw invalidRuntimeToken('is malformed');
  demand(payload.iss === TOKEN_ISSUER, 'is of another issuer (iss)');
  demand(payload.domain === TOKEN_DOMAIN, `is for another domain than ${TOKEN_DOMAIN} (domain)`);
  for (const name of UNSUPPORTED)
    demand(!Object.hasOwn(payload, name), `has the claim ${name}, which is not read here`);
  const { scopes, agents = null } = payload;
  demand(
    Array.isArray(scopes) && scopes.includes(TOKEN_SCOPE),
    `does not have the scope ${TOKEN_SCOPE} (scopes)`,
  );
  demand(agents === null || isAgents(agents), 'has no valid claim agents');
  const claims: TokenClaims = {
    namespace: textClaim(payload, 'namespace_key', (text) => NAMESPACE_NAME.test(text)),
    actor: textClaim(payload, 'actor_id', (text) => isShort(text, MAX_ACTOR_LENGTH)),
    origin: textClaim(payload, 'origin', (text) => text === 'key' || text === 'grant') as TokenOrigin,
    fingerprint: textClaim(payload, 'fingerprint', (text) => FINGERPRINT.test(text)),
    agents: agents as string[] | null,
    targetType: textClaim(payload, 'target_type', (text) => isShort(text, MAX_TARGET_LENGTH)),
    targetId: textClaim(payload, 'target_id', (text) => isShort(text, MAX_TARGET_LENGTH)),
    issuedAt: timeClaim(payload, 'iat'),
    expiresAt: timeClaim(payload, 'exp'),
    id: textClaim(payload, 'jti', (text) => isShort(text, MAX_ID_LENGTH)),
  };
  const lifetime = claims.expiresAt - claims.issuedAt;
  demand(
    lifetime > 0 && lifetime <= MAX_TOKEN_SECONDS,
    `lasts longer than ${MAX_TOKEN_SECONDS} seconds, or not at all (exp)`,
  );
  const ahead = claims.issuedAt - now;
  if (ahead > MAX_AHEAD_SECONDS) throw fromTheFuture(ahead);
  return claims;
}

function demand(holds: boolean, problem: string): asserts holds {
  if (!holds) throw invalidRuntimeToken(problem);
}

function textClaim(payload: JsonObject, name: string, isOne: (text: string) => boolean): string {
  const value = payload[name];
  demand(typeof value === 'string' && isOne(value), `has no valid claim ${name}`);
  return value;
}

function timeClaim(payload: JsonObject, name: string): number {
  const value = payload[name];
  demand(typeof value === 'number' && Number.isSafeInteger(value) && value > 0, `has no valid claim ${name}`);
  return value;
}

function isShort(text: string, max: number): boolean {
  return text.length > 0 && text.length <= max;
}

function isAgents(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'string' && one !== '' && AGENT_PATTERN.test(one))
  );
}

function fromTheFuture(seconds: number) {
  return invalidRuntimeToken(
    `was issued ${seconds} seconds in the future (iat): the clocks of the processes of this service differ`,
    'Set the clocks of all processes by NTP; up to 60 seconds are tolerated.',
  );
}
