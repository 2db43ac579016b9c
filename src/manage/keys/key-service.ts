import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { CallContext, Principal } from '../../contract/call/handler.js';
import { namespaceNamed } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import { isoOf } from '../../contract/call/printed.js';
import { type RoleTable, type ScopeMask, scopeMask, scopesOf } from '../../contract/call/scopes.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import { once } from '../../storage/database/idempotency.js';
import type { Mutator } from '../../storage/database/mutator.js';
import {
  agentsBeyondCaller,
  keyEnded,
  keyNotFound,
  namespaceNotFound,
  otherNamespace,
  scopesBeyondCaller,
} from './key-errors.js';
import type { KeyInputs } from './key-schemas.js';
import { hashOfSecret, newSecret, shownPrefix } from './key-secret.js';
import { createKeyStore, type KeyRow } from './key-store.js';

/** Tells which namespaces exist, besides `default`. */
export interface ExistingNamespaces {
  known(name: string): boolean;
}

export interface KeyServiceOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly roles: RoleTable;
  readonly namespaces: ExistingNamespaces;
  /** Resolves when this process uses the keys as they are stored. */
  readonly applied: () => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const OTHER_NAMESPACES = scopeMask(['namespaces.write']);

export type KeyService = ReturnType<typeof createKeyService>;

/** Creates, lists, rotates and revokes the keys of a namespace. */
export function createKeyService(options: KeyServiceOptions) {
  const { database, mutate, roles, namespaces, applied, now } = options;
  const print = (row: KeyRow) => printedKey(row, roles, now());
  const scopesOfKey = ({ role, scopes }: Pick<KeyRow, 'role' | 'scopes'>): ScopeMask =>
    role === null ? scopeMask(scopes ?? []) : (roles.get(role)?.scopes ?? 0n);

  /** The namespace of a new key. Throws NAMESPACE_NOT_FOUND, or AUTH_INSUFFICIENT_PRIVILEGES for one beyond the caller. */
  function demandedNamespace({ namespace, scopes }: Principal, wanted: string | undefined) {
    if (wanted === undefined || wanted === namespace.name) return namespace;
    if ((scopes & OTHER_NAMESPACES) === 0n) throw otherNamespace();
    const found = namespaceNamed(wanted);
    if (!found.isDefault && !namespaces.known(wanted)) throw namespaceNotFound(wanted);
    return found;
  }

  /** Who holds a secret has its scopes: throws AUTH_INSUFFICIENT_PRIVILEGES for more than the caller has. */
  function demandWithin(
    { scopes, agents }: Principal,
    key: Pick<KeyRow, 'role' | 'scopes' | 'agents'>,
  ): void {
    const beyond = scopesOf(scopesOfKey(key) & ~scopes);
    if (beyond.length > 0) throw scopesBeyondCaller(beyond);
    if (agents === null) return;
    const others = (key.agents ?? ['*']).filter(
      (pattern) => !agents.patterns.includes(pattern) && (pattern.includes('*') || !agents.allows(pattern)),
    );
    if (others.length > 0) throw agentsBeyondCaller(others);
  }

  return {
    /**
     * Throws NAMESPACE_NOT_FOUND, IDEMPOTENCY_CONFLICT, or AUTH_INSUFFICIENT_PRIVILEGES for scopes, agents or a namespace
     * that the caller does not have.
     */
    async create(context: CallContext, input: KeyInputs['createKey']) {
      const { idempotency_key: repeatKey, ...request } = input;
      const { principal } = context;
      const namespace = demandedNamespace(principal, input.namespace);
      const agents = input.agents === undefined || input.agents.length === 0 ? null : input.agents;
      const scopes = input.role === undefined ? scopesOf(scopeMask(input.scopes ?? [])) : null;
      demandWithin(principal, { role: input.role ?? null, scopes, agents });
      const secret = newSecret();
      const nowMs = now();
      const made = await mutate(context, async (scope) => {
        const store = createKeyStore({ client: scope.client, namespace });
        const call = { rpc: 'CreateKey', key: repeatKey, request, nowMs };
        const { value, isRepeat } = await once(scope, call, async () => {
          const { id } = await store.insert({
            name: input.name,
            owner: input.owner ?? null,
            role: input.role ?? null,
            scopes,
            agents,
            hash: hashOfSecret(secret),
            prefix: shownPrefix(secret),
            createdAtMs: nowMs,
            createdBy: principal.name,
            expiresAtMs: input.expires_at ?? null,
          });
          return { id };
        });
        const row = await store.find(value.id);
        if (row === null) throw keyNotFound(value.id);
        const result = { key: print(row), secret: isRepeat ? null : secret, created: !isRepeat };
        if (isRepeat) return { value: result, change: null };
        return {
          value: result,
          change: { access: true },
          audit: keyFact('key.create', row, null, factsOf(row)),
        };
      });
      if (made.created) await applied();
      return made;
    },

    /** One page, newest first. */
    async list({ principal }: CallContext, input: KeyInputs['listKeys']) {
      const store = createKeyStore({ client: database.client, namespace: principal.namespace });
      const page = await store.list({
        cursor: input.cursor,
        limit: input.limit,
        includeEnded: input.include_ended === true,
        nameContains: input.name || null,
        nowMs: now(),
      });
      return { keys: page.rows.map(print), pagination: paginationOf(page, input.limit) };
    },

    /** Throws KEY_NOT_FOUND. */
    async get({ principal }: CallContext, keyId: number) {
      const store = createKeyStore({ client: database.client, namespace: principal.namespace });
      const row = await store.find(keyId);
      if (row === null) throw keyNotFound(keyId);
      return { key: print(row) };
    },

    /**
     * Throws KEY_NOT_FOUND, VALIDATION_ERROR if the key has ended, or AUTH_INSUFFICIENT_PRIVILEGES if it may do more than
     * the caller, who gets its secret.
     */
    async rotate(context: CallContext, { key_id: keyId, overlap_seconds: overlap }: KeyInputs['rotateKey']) {
      const secret = newSecret();
      const nowMs = now();
      const rotated = await mutate(context, async (scope) => {
        const store = createKeyStore(scope);
        const before = await store.find(keyId);
        if (before === null) throw keyNotFound(keyId);
        if (before.revokedAtMs !== null) throw keyEnded(keyId, 'was revoked');
        if (hasExpired(before, nowMs)) throw keyEnded(keyId, 'has expired');
        demandWithin(context.principal, before);
        const row = await store.rotate(
          before,
          { hash: hashOfSecret(secret), prefix: shownPrefix(secret) },
          { nowMs, previousUntilMs: overlap === 0 ? null : nowMs + overlap * 1000 },
        );
        const audit = keyFact('key.rotate', row, secretFactsOf(before), {
          ...secretFactsOf(row),
          overlap_seconds: overlap,
        });
        return { value: { key: print(row), secret }, change: { access: true }, audit };
      });
      await applied();
      return rotated;
    },

    /** Revoking again changes nothing. Throws KEY_NOT_FOUND. */
    async revoke(context: CallContext, keyId: number) {
      const nowMs = now();
      const revoked = await mutate(context, async (scope) => {
        const store = createKeyStore(scope);
        const before = await store.find(keyId);
        if (before === null) throw keyNotFound(keyId);
        if (before.revokedAtMs !== null) return { value: { key: print(before) }, change: null };
        const row = await store.revoke(keyId, nowMs);
        const audit = keyFact('key.revoke', row, factsOf(before), null);
        return { value: { key: print(row) }, change: { access: true }, audit };
      });
      await applied();
      return revoked;
    },

    /** All roles and scopes. */
    roles: () => ({
      roles: [...roles.values()].map(({ name, description, scopes }) => ({
        name,
        description,
        scopes: scopesOf(scopes),
      })),
      scopes: scopesOf(scopeMask([...roles.values()].flatMap((role) => scopesOf(role.scopes)))),
    }),
  };
}

function hasExpired({ expiresAtMs }: KeyRow, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/** First 12 hex digits of the hash, as in the audit log and in histories. */
function fingerprintOf({ hash }: KeyRow): string {
  return hash.slice(0, 12);
}

function printedKey(row: KeyRow, roles: RoleTable, nowMs: number) {
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

function keyFact(
  action: `key.${string}`,
  { id, name }: KeyRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'key', id: String(id), name, before, after };
}

/** What the audit log tells of a key: no secret, and no hash of one. */
function factsOf(row: KeyRow): JsonObject {
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

function secretFactsOf(row: KeyRow): JsonObject {
  return { prefix: row.prefix, fingerprint: fingerprintOf(row) };
}
