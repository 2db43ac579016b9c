import type { JWTPayload } from 'jose';
import type { TokenRights } from '../../config/oidc-settings.js';
import { AGENT_PATTERN, type AgentLimit, createAgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import { scopesOfRole } from '../../contract/call/scopes.js';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';
import { fingerprintOf } from './known-key.js';

/** Most characters of a name: `sub` has at most 255 (OpenID Connect Core 1.0, section 2). */
const MAX_NAME_LENGTH = 255;
/** No control characters and no line breaks: names appear in logs. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** The claims of a verified token. */
export type TokenClaims = JWTPayload & { readonly sub: string; readonly exp: number };

/**
 * The principal of a verified token until `expiresAtMs`. Fails with AUTH_INSUFFICIENT_PRIVILEGES, naming the claim, if
 * the token has no role or its claims cannot be read: what it allows would be unclear.
 */
export function tokenPrincipal(
  claims: TokenClaims,
  rights: TokenRights,
  issuer: string,
  expiresAtMs: number,
): Principal {
  const level = levelOf(claims, rights);
  const role = level === 'admin' ? 'admin' : 'regular';
  return {
    level,
    namespace: DEFAULT_NAMESPACE,
    scopes: scopesOfRole(role),
    role,
    target: null,
    // All tokens of a subject share its limits.
    keyFingerprint: subjectFingerprint(issuer, claims.sub),
    name: nameOf(claims, rights),
    agents: rights.agentsClaim === null ? null : agentsOf(claims, rights.agentsClaim),
    expiresAtMs,
  };
}

/** Identifies a subject of the issuer without naming it. */
export function subjectFingerprint(issuer: string, subject: string): string {
  return fingerprintOf(`subject ${issuer} ${subject}`);
}

/** Whether the claims tell any role. */
export function hasRoles(claims: JWTPayload, { rolesClaim }: TokenRights): boolean {
  return claimOf(claims, rolesClaim) !== undefined;
}

function levelOf(claims: JWTPayload, { rolesClaim, adminRoles, regularRoles }: TokenRights): 'key' | 'admin' {
  const roles = textsOf(claimOf(claims, rolesClaim)) ?? [];
  if (roles.some((role) => adminRoles.includes(role))) return 'admin';
  if (regularRoles === '*' || roles.some((role) => regularRoles.includes(role))) return 'key';
  throw lacksRole(rolesClaim);
}

function nameOf(claims: TokenClaims, { nameClaim }: TokenRights): string {
  for (const value of [claimOf(claims, nameClaim), claims.sub]) {
    if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH && NAME.test(value)) return value;
  }
  throw unusableClaim('sub', `a text of 1 to ${MAX_NAME_LENGTH} characters`);
}

function agentsOf(claims: JWTPayload, claim: string): AgentLimit | null {
  const patterns = textsOf(claimOf(claims, claim))?.map((pattern) => pattern.toLowerCase());
  const isValid = patterns?.every((pattern) => pattern !== '' && AGENT_PATTERN.test(pattern)) === true;
  if (patterns === undefined || patterns.length === 0 || !isValid)
    throw unusableClaim(claim, 'the names of agents, or patterns with one *; * alone stands for all agents');
  return patterns.includes('*') ? null : createAgentLimit(patterns);
}

/** A claim by its name; a name with dots that is no claim itself is a path. */
function claimOf(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const member of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
    value = (value as Record<string, unknown>)[member];
  }
  return value;
}

/** A list of texts, or a text with blanks between them, as in `scope`. Undefined for everything else. */
function textsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(' ').filter((text) => text !== '');
  return Array.isArray(value) && value.every((text) => typeof text === 'string') ? value : undefined;
}

function lacksRole(claim: string): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The bearer token is valid, but its claim ${claim} has no role that is known to this service.`,
    hint: 'Assign a role of SERVICE_OIDC_ADMIN_ROLES or SERVICE_OIDC_REGULAR_ROLES at the issuer.',
  });
}

function unusableClaim(claim: string, form: string): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The bearer token is valid, but its claim ${claim} is not ${form}.`,
    hint: 'Correct the claims of this client at the issuer.',
  });
}
