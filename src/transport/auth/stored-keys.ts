import { createAgentLimit } from '../../contract/call/agent-limit.js';
import { NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { isScope, type RoleTable, scopeMask } from '../../contract/call/scopes.js';
import type { LiveKey } from '../../keys/live-keys.js';
import { hashedKey, type KeyRights, type KnownKey } from './known-key.js';

/**
 * The keys of the database as keys of a ring: one for each secret. What this version cannot read, such as a role of a
 * later one, gives a key no rights.
 */
export function storedKeys(keys: readonly LiveKey[], roles: RoleTable): KnownKey[] {
  return keys.flatMap((key) => {
    const rights = rightsOf(key, roles);
    if (rights === undefined) return [];
    const current = hashedKey(Buffer.from(key.hash, 'hex'), rights, key.id);
    if (key.previousHash === null || key.previousUntilMs === null) return [current];
    const expiresAtMs = Math.min(rights.expiresAtMs, key.previousUntilMs);
    const previous = hashedKey(Buffer.from(key.previousHash, 'hex'), { ...rights, expiresAtMs }, key.id);
    return [previous, current];
  });
}

function rightsOf(key: LiveKey, roles: RoleTable): KeyRights | undefined {
  const { namespace, name, role, agents, expiresAtMs } = key;
  const scopes =
    role === null ? scopeMask((key.scopes ?? []).filter(isScope)) : (roles.get(role)?.scopes ?? 0);
  if (scopes === 0 || !NAMESPACE_NAME.test(namespace)) return undefined;
  return {
    namespace: namespaceNamed(namespace),
    scopes,
    role,
    name,
    agents: agents === null ? null : createAgentLimit(agents),
    expiresAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY,
  };
}
