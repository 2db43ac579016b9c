import type { Principal } from '../../contract/call/handler.js';
import { type Namespace, namespaceNamed } from '../../contract/call/namespace.js';
import { type RoleTable, type ScopeMask, scopeMask, scopesOf } from '../../contract/call/scopes.js';
import { agentsBeyondCaller, namespaceNotFound, otherNamespace, scopesBeyondCaller } from './key-errors.js';
import type { KeyRow } from './key-store.js';

/** Tells which namespaces exist, besides `default`. */
export interface ExistingNamespaces {
  known(name: string): boolean;
}

const OTHER_NAMESPACES = scopeMask(['namespaces.write']);

/** The namespace of a new key. Throws NAMESPACE_NOT_FOUND, or AUTH_INSUFFICIENT_PRIVILEGES for one beyond the caller. */
export function demandedNamespace(
  { namespace, scopes }: Principal,
  wanted: string | undefined,
  namespaces: ExistingNamespaces,
): Namespace {
  if (wanted === undefined || wanted === namespace.name) return namespace;
  if ((scopes & OTHER_NAMESPACES) === 0n) throw otherNamespace();
  const found = namespaceNamed(wanted);
  if (!found.isDefault && !namespaces.known(wanted)) throw namespaceNotFound(wanted);
  return found;
}

/** Who holds a secret has its scopes: throws AUTH_INSUFFICIENT_PRIVILEGES for more than the caller has. */
export function demandWithin(
  { scopes, agents }: Principal,
  key: Pick<KeyRow, 'role' | 'scopes' | 'agents'>,
  roles: RoleTable,
): void {
  const beyond = scopesOf(scopesOfKey(key, roles) & ~scopes);
  if (beyond.length > 0) throw scopesBeyondCaller(beyond);
  if (agents === null) return;
  const others = (key.agents ?? ['*']).filter(
    (pattern) => !agents.patterns.includes(pattern) && (pattern.includes('*') || !agents.allows(pattern)),
  );
  if (others.length > 0) throw agentsBeyondCaller(others);
}

function scopesOfKey({ role, scopes }: Pick<KeyRow, 'role' | 'scopes'>, roles: RoleTable): ScopeMask {
  return role === null ? scopeMask(scopes ?? []) : (roles.get(role)?.scopes ?? 0n);
}
