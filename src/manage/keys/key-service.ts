import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { type RoleTable, scopeMask, scopesOf } from '../../contract/call/scopes.js';
import type { Database } from '../../storage/database/database.js';
import { once } from '../../storage/database/idempotency.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { demandedNamespace, demandWithin, type ExistingNamespaces } from './key-bounds.js';
import { keyEnded, keyNotFound } from './key-errors.js';
import type { KeyInputs } from './key-schemas.js';
import { hashOfSecret, newSecret, shownPrefix } from './key-secret.js';
import { createKeyStore, type KeyRow } from './key-store.js';
import { factsOf, keyFact, printedKey, secretFactsOf } from './printed-key.js';

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

export type KeyService = ReturnType<typeof createKeyService>;

/** Creates, lists, rotates and revokes the keys of a namespace. */
export function createKeyService(options: KeyServiceOptions) {
  const { database, mutate, roles, namespaces, applied, now } = options;
  const print = (row: KeyRow) => printedKey(row, roles, now());
  return {
    /**
     * Throws NAMESPACE_NOT_FOUND, IDEMPOTENCY_CONFLICT, or AUTH_INSUFFICIENT_PRIVILEGES for scopes, agents or a namespace
     * that the caller does not have.
     */
    async create(context: CallContext, input: KeyInputs['createKey']) {
      const { idempotency_key: repeatKey, ...request } = input;
      const { principal } = context;
      const namespace = demandedNamespace(principal, input.namespace, namespaces);
      const agents = input.agents === undefined || input.agents.length === 0 ? null : input.agents;
      const scopes = input.role === undefined ? scopesOf(scopeMask(input.scopes ?? [])) : null;
      demandWithin(principal, { role: input.role ?? null, scopes, agents }, roles);
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
        demandWithin(context.principal, before, roles);
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
