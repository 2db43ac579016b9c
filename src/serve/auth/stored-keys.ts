import { createAgentLimit } from '../../contract/call/agent-limit.js';
import { NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { isScope, type RoleTable, scopeMask } from '../../contract/call/scopes.js';
import type { LiveKey } from '../../manage/keys/live-keys.js';
import { hashedKey, type KeyRights, type KnownKey } from './known-key.js';

/** Makes the keys of a ring of the keys of the database: one for each secret. */
export type StoredKeys = (keys: readonly LiveKey[]) => KnownKey[];

/**
 * What this version cannot read, such as a role of a later one, gives a key no rights. Keys that have not changed since the
 * last call are not made again: a change of one of thousands must not delay calls.
 */
export function createStoredKeys(roles: RoleTable): StoredKeys {
  let before: ReadonlyMap<number, Made> = new Map();
  return (keys) => {
    const made = new Map<number, Made>();
    for (const key of keys) {
      const known = before.get(key.id);
      made.set(
        key.id,
        known !== undefined && isSame(known.of, key) ? known : { of: key, keys: knownKeysOf(key, roles) },
      );
    }
    before = made;
    return [...made.values()].flatMap((one) => one.keys);
  };
}

interface Made {
  readonly of: LiveKey;
  readonly keys: readonly KnownKey[];
}

function knownKeysOf(key: LiveKey, roles: RoleTable): readonly KnownKey[] {
  const rights = rightsOf(key, roles);
  if (rights === undefined) return [];
  const current = hashedKey(Buffer.from(key.hash, 'hex'), rights, key.id);
  if (key.previousHash === null || key.previousUntilMs === null) return [current];
  const expiresAtMs = Math.min(rights.expiresAtMs, key.previousUntilMs);
  const previous = hashedKey(Buffer.from(key.previousHash, 'hex'), { ...rights, expiresAtMs }, key.id);
  return [previous, current];
}

function isSame(one: LiveKey, other: LiveKey): boolean {
  return (
    one.hash === other.hash &&
    one.previousHash === other.previousHash &&
    one.previousUntilMs === other.previousUntilMs &&
    one.expiresAtMs === other.expiresAtMs &&
    one.role === other.role &&
    one.name === other.name &&
    one.namespace === other.namespace &&
    isSameList(one.scopes, other.scopes) &&
    isSameList(one.agents, other.agents)
  );
}

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

function rightsOf(key: LiveKey, roles: RoleTable): KeyRights | undefined {
  const { namespace, name, role, agents, expiresAtMs } = key;
  const scopes =
    role === null ? scopeMask((key.scopes ?? []).filter(isScope)) : (roles.get(role)?.scopes ?? 0n);
  if (scopes === 0n || !NAMESPACE_NAME.test(namespace)) return undefined;
  return {
    namespace: namespaceNamed(namespace),
    scopes,
    role,
    name,
    agents: agents === null ? null : createAgentLimit(agents),
    expiresAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY,
  };
}
