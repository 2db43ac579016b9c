import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { isoOf } from '../../contract/call/printed.js';
import { type RoleTable, scopesOf } from '../../contract/call/scopes.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { KeyRow } from './key-store.js';

/** First 12 hex digits of the hash, as in the audit log and in histories. */
function fingerprintOf({ hash }: KeyRow): string {
  return hash.slice(0, 12);
}

/** A key as contained in replies. */
export function printedKey(row: KeyRow, roles: RoleTable, nowMs: number) {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    fingerprint: fingerprintOf(row),
    owner: row.owner,
    role: row.role,
    scopes: row.role === null ? (row.scopes ?? []) : scopesOf(roles.get(row.role)?.scopes ?? 0n),
    namespace: row.namespace,
    agents: row.agents ?? [],
    created_at: isoOf(row.createdAtMs),
    created_by: row.createdBy,
    expires_at: isoOf(row.expiresAtMs),
    last_used_at: isoOf(row.lastUsedMs),
    rotated_at: isoOf(row.rotatedAtMs),
    previous_secret_until: isoOf((row.previousUntilMs ?? 0) > nowMs ? row.previousUntilMs : null),
    revoked_at: isoOf(row.revokedAtMs),
  };
}

/** The entry of the audit log about a change of a key. */
export function keyFact(
  action: `key.${string}`,
  { id, name }: KeyRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'key', id: String(id), name, before, after };
}

/** What the audit log tells of a key: no secret, and no hash of one. */
export function factsOf(row: KeyRow): JsonObject {
  return {
    ...secretFactsOf(row),
    name: row.name,
    namespace: row.namespace,
    ...(row.owner === null ? {} : { owner: row.owner }),
    ...(row.role === null ? { scopes: [...(row.scopes ?? [])] } : { role: row.role }),
    ...(row.agents === null ? {} : { agents: [...row.agents] }),
    ...(row.expiresAtMs === null ? {} : { expires_at: isoOf(row.expiresAtMs) }),
  };
}

export function secretFactsOf(row: KeyRow): JsonObject {
  return { prefix: row.prefix, fingerprint: fingerprintOf(row) };
}
