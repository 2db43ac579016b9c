import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import { type PageAsked, paginationOf } from '../../contract/call/page.js';
import { isoOf } from '../../contract/call/printed.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Database, DbClient } from '../../storage/database/database.js';
import type { MutationCaller, Mutator } from '../../storage/database/mutator.js';
import {
  defaultNamespaceKeepsName,
  defaultNamespaceStays,
  namespaceConflict,
  namespaceInUse,
  namespaceNotFound,
  tooManyNamespaces,
} from './namespace-errors.js';
import type { NamespaceRegistry } from './namespace-registry.js';
import type { NamespaceRemoval } from './namespace-removal.js';
import { createNamespaceStore, type NamespaceContent, type NamespaceRow } from './namespace-store.js';

/** Most namespaces: each process keeps all names in memory, and reads all of them after a change. */
export const MAX_NAMESPACES = 10_000;

export interface NamespaceServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly registry: Pick<NamespaceRegistry, 'load'>;
  readonly removal: NamespaceRemoval;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `MAX_NAMESPACES`. */
  readonly maxNamespaces?: number;
}

export type NamespaceService = ReturnType<typeof createNamespaceService>;

/** Creates, reads, renames and deletes namespaces. */
export function createNamespaceService(options: NamespaceServiceOptions) {
  const { database, mutate, registry, removal, failures, now, maxNamespaces = MAX_NAMESPACES } = options;

  /** A change of the namespaces, which this process knows when its caller is answered. Others know it within a second. */
  async function changeAccess<T>(
    context: MutationCaller,
    work: (tx: DbClient) => Promise<{ readonly value: T; readonly audit: AuditFact | null }>,
  ): Promise<T> {
    const value = await mutate<T>(context, async ({ client }) => {
      const done = await work(client);
      if (done.audit === null) return { value: done.value, change: null };
      return { value: done.value, change: { access: true }, audit: done.audit };
    });
    // It is committed; what cannot be read now is read when the database answers.
    await registry.load().catch((error: unknown) => failures.failed('namespaces', UNREADABLE, error));
    return value;
  }

  async function shown(client: DbClient, rows: readonly NamespaceRow[]) {
    const contents = await createNamespaceStore(client).contents(
      rows.map(({ name }) => name),
      now(),
    );
    return rows.map((row) => printedNamespace(row, contents.get(row.name) ?? NOTHING));
  }

  async function one(client: DbClient, name: string) {
    const row = await createNamespaceStore(client).find(name);
    if (row === null) throw namespaceNotFound(name);
    const [namespace] = await shown(client, [row]);
    return { namespace };
  }

  return {
    /** Throws NAMESPACE_CONFLICT, or VALIDATION_ERROR if there are too many namespaces. */
    create: (context: MutationCaller, name: string, displayName: string = name) =>
      changeAccess(context, async (tx) => {
        const store = createNamespaceStore(tx);
        const use = await store.useOf(name);
        if (use !== 'none') throw namespaceConflict(name, use === 'deleted');
        if ((await store.count()) >= maxNamespaces) throw tooManyNamespaces(maxNamespaces);
        const row = await store.insert({ name, displayName, createdAtMs: now() });
        const audit = namespaceFact('namespace.create', name, null, { display_name: displayName });
        return { value: { namespace: printedNamespace(row, NOTHING) }, audit };
      }),

    /** One page of namespaces, by name. */
    async list(asked: PageAsked<string>) {
      const page = await createNamespaceStore(database.client).page(asked);
      return {
        namespaces: await shown(database.client, page.rows),
        pagination: paginationOf(page, asked.limit, ({ name }) => name),
      };
    },

    /** Throws NAMESPACE_NOT_FOUND. */
    get: (name: string) => one(database.client, name),

    /** Throws NAMESPACE_NOT_FOUND, or NAMESPACE_IN_USE for `default`. */
    async update(context: MutationCaller, name: string, displayName: string) {
      if (name === DEFAULT_NAMESPACE.name) throw defaultNamespaceKeepsName(name);
      return changeAccess(context, async (tx) => {
        const store = createNamespaceStore(tx);
        const row = await store.find(name);
        if (row === null) throw namespaceNotFound(name);
        if (row.displayName === displayName) return { value: await one(tx, name), audit: null };
        await store.show(name, displayName);
        const before = { display_name: row.displayName };
        const audit = namespaceFact('namespace.update', name, before, { display_name: displayName });
        return { value: await one(tx, name), audit };
      });
    },

    /**
     * Deletes a namespace. Its callers have no access from the first mutation on, which marks it; its content is removed
     * after that. Throws NAMESPACE_NOT_FOUND, or NAMESPACE_IN_USE if it contains anything and `force` is not set, and for
     * `default`.
     */
    async remove(context: MutationCaller, name: string, force: boolean) {
      if (name === DEFAULT_NAMESPACE.name) throw defaultNamespaceStays(name);
      const content = await changeAccess(context, async (tx) => {
        const store = createNamespaceStore(tx);
        const row = await store.find(name);
        if (row === null) throw namespaceNotFound(name);
        const found = (await store.contents([name], now())).get(name) ?? NOTHING;
        const isEmpty = Object.values(found).every((count) => count === 0);
        if (!isEmpty && !force) throw namespaceInUse(name, found);
        await store.close(name, now());
        const before = { display_name: row.displayName, ...found };
        return { value: found, audit: namespaceFact('namespace.delete', name, before, null) };
      });
      await removal.remove(name).catch((error: unknown) => {
        failures.failed('namespace removal', UNFINISHED, error, { namespace: name });
      });
      return {
        success: true,
        removed_agents_count: content.agents,
        removed_controls_count: content.controls,
        removed_policies_count: content.policies,
        revoked_keys_count: content.keys,
      };
    },
  };
}

const NOTHING: NamespaceContent = { agents: 0, controls: 0, policies: 0, bindings: 0, keys: 0 };
const UNREADABLE = 'the namespaces cannot be read now; those that were known stay known until they can';
const UNFINISHED =
  'the content of a deleted namespace could not be removed now; the upkeep of lists removes it';

function namespaceFact(
  action: `namespace.${string}`,
  name: string,
  before: AuditFact['before'],
  after: AuditFact['after'],
): AuditFact {
  return { action, resource: 'namespace', id: name, name, before, after };
}

/** A namespace as contained in replies. */
export function printedNamespace(
  { name, displayName, createdAtMs }: NamespaceRow,
  content: NamespaceContent,
) {
  return {
    name,
    display_name: displayName,
    created_at: isoOf(createdAtMs),
    agent_count: content.agents,
    control_count: content.controls,
    key_count: content.keys,
  };
}
