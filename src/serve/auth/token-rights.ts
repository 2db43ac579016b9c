import type { JWTPayload } from 'jose';
import { AGENT_PATTERN, type AgentLimit, createAgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { DEFAULT_ROLES, levelOfScopes, type RoleTable, type ScopeMask } from '../../contract/call/scopes.js';
import type { TokenRights } from '../../contract/config/oidc-settings.js';
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
  roles: RoleTable = DEFAULT_ROLES,
): Principal {
  const granted = grantedBy(claims, rights, roles);
  const [namespace = DEFAULT_NAMESPACE.name, ...others] =
    rights.namespaceClaim === null ? [] : namespacesOf(claims, rights.namespaceClaim);
  return {
    ...granted,
    level: levelOfScopes(granted.scopes),
    namespace: namespaceNamed(namespace),
    ...(others.length === 0 ? {} : { namespaces: others }),
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

/** The scopes of all roles that the roles of the issuer stand for. The role is the one that has them all, if one does. */
function grantedBy(
  claims: JWTPayload,
  { rolesClaim, adminRoles, regularRoles, roleMap }: TokenRights,
  table: RoleTable,
): { readonly scopes: ScopeMask; readonly role: string | null } {
  const names = new Set(regularRoles === '*' ? ['regular'] : []);
  for (const given of textsOf(claimOf(claims, rolesClaim)) ?? []) {
    if (adminRoles.includes(given)) names.add('admin');
    if (regularRoles !== '*' && regularRoles.includes(given)) names.add('regular');
    for (const { from, to } of roleMap) if (from === given) names.add(to);
  }
  const roles = [...names].flatMap((name) => table.get(name) ?? []);
  if (roles.length === 0) throw lacksRole(rolesClaim);
  const scopes = roles.reduce((all, role) => all | role.scopes, 0n);
  return { scopes, role: roles.find((role) => role.scopes === scopes)?.name ?? null };
}

/** Those in the claim, the first one of which is that of calls. */
function namespacesOf(claims: JWTPayload, claim: string): readonly string[] {
  const names = textsOf(claimOf(claims, claim)) ?? [];
  if (names.length === 0 || !names.every((name) => NAMESPACE_NAME.test(name)))
    throw unusableClaim(claim, 'the name of a namespace, or a list of such names');
  return [...new Set(names)];
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
    hint: 'Assign a role of SERVICE_OIDC_ADMIN_ROLES, SERVICE_OIDC_REGULAR_ROLES or SERVICE_OIDC_ROLE_MAP at the issuer.',
  });
}

function unusableClaim(claim: string, form: string): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The bearer token is valid, but its claim ${claim} is not ${form}.`,
    hint: 'Correct the claims of this client at the issuer.',
  });
}
