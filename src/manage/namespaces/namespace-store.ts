import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import { type Page, type PageAsked, pageOf } from '../../contract/call/page.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { columns, number, text } from '../../storage/database/rows.js';
import { assertStorable, isStorable } from '../../storage/database/text.js';
import type { KnownNamespace } from './namespace-registry.js';

/** A namespace that exists. */
export interface NamespaceRow extends KnownNamespace {
  /** Milliseconds since 1970; null for `default`, which has no row. */
  readonly createdAtMs: number | null;
}

/** Numbers of what a namespace contains. */
export interface NamespaceContent {
  readonly agents: number;
  readonly controls: number;
  readonly policies: number;
  readonly bindings: number;
  /** Keys of the database that are valid. */
  readonly keys: number;
}

const DEFAULT_ROW: NamespaceRow = {
  name: DEFAULT_NAMESPACE.name,
  displayName: DEFAULT_NAMESPACE.name,
  createdAtMs: null,
};
const SHOWN = columns({ name: text, displayName: text, createdAtMs: number });

/** Stored namespaces. Writing needs the client of a mutation. Every method rejects with a `ServiceError` only. */
export function createNamespaceStore(client: DbClient) {
  return {
    /** All that exist and have a row. */
    all: (): Promise<KnownNamespace[]> =>
      withServiceErrors(() =>
        client.namespace.findMany({
          where: { deletedAtMs: null },
          select: { name: true, displayName: true },
        }),
      ),

    /** Null for a deleted namespace, too. */
    find: (name: string): Promise<NamespaceRow | null> =>
      withServiceErrors(async () => {
        if (name === DEFAULT_ROW.name) return DEFAULT_ROW;
        if (!isStorable(name)) return null;
        const row = await client.namespace.findUnique({
          where: { name, deletedAtMs: null },
          select: SHOWN.selected,
        });
        return row === null ? null : SHOWN.of(row);
      }),

    /** Whether a name was ever used, and by what. */
    useOf: (name: string): Promise<'none' | 'existing' | 'deleted'> =>
      withServiceErrors(async () => {
        if (name === DEFAULT_ROW.name) return 'existing';
        const row = await client.namespace.findUnique({ where: { name }, select: { deletedAtMs: true } });
        if (row === null) return 'none';
        return row.deletedAtMs === null ? 'existing' : 'deleted';
      }),

    /** Number of those that exist, with `default`. */
    count: (): Promise<number> =>
      withServiceErrors(async () => 1 + (await client.namespace.count({ where: { deletedAtMs: null } }))),

    /** One page, by name ascending. */
    page: ({ cursor, limit }: PageAsked<string>): Promise<Page<NamespaceRow>> =>
      withServiceErrors(async () => {
        const total = 1 + (await client.namespace.count({ where: { deletedAtMs: null } }));
        if (cursor !== null && !isStorable(cursor)) return pageOf([], limit, total);
        const rows = await client.namespace.findMany({
          where: { deletedAtMs: null, ...(cursor === null ? {} : { name: { gt: cursor } }) },
          select: SHOWN.selected,
          orderBy: { name: 'asc' },
          take: limit + 1,
        });
        const all: NamespaceRow[] = rows.map(SHOWN.of);
        if (cursor === null || DEFAULT_ROW.name > cursor) {
          const at = all.findIndex(({ name }) => name > DEFAULT_ROW.name);
          all.splice(at === -1 ? all.length : at, 0, DEFAULT_ROW);
        }
        return pageOf(all, limit, total);
      }),

    /** What namespaces contain, by name; a namespace without anything has zeros. */
    contents: (names: readonly string[], nowMs: number): Promise<Map<string, NamespaceContent>> =>
      withServiceErrors(async () => {
        if (names.length === 0) return new Map();
        const within = Prisma.sql`"namespace" IN (${Prisma.join([...names])})`;
        const count = async (table: string, condition = Prisma.sql`1 = 1`): Promise<Map<string, number>> => {
          const rows = await client.$queryRaw<{ namespace: string; total: bigint }[]>(Prisma.sql`
            SELECT "namespace", COUNT(*) AS "total" FROM ${Prisma.raw(`"${table}"`)}
            WHERE ${within} AND ${condition} GROUP BY "namespace"`);
          return new Map(rows.map(({ namespace, total }) => [namespace, Number(total)]));
        };
        const agents = await count('agents');
        const controls = await count('controls', Prisma.sql`"deleted_at_ms" IS NULL`);
        const policies = await count('policies');
        const bindings = await count('control_bindings');
        const isValid = Prisma.sql`
          "revoked_at_ms" IS NULL AND ("expires_at_ms" IS NULL OR "expires_at_ms" > ${BigInt(nowMs)})`;
        const keys = await count('api_keys', isValid);
        return new Map(
          names.map((name) => [
            name,
            {
              agents: agents.get(name) ?? 0,
              controls: controls.get(name) ?? 0,
              policies: policies.get(name) ?? 0,
              bindings: bindings.get(name) ?? 0,
              keys: keys.get(name) ?? 0,
            },
          ]),
        );
      }),

    /** The name must never have been used. */
    insert: ({ name, displayName, createdAtMs }: KnownNamespace & { readonly createdAtMs: number }) =>
      withServiceErrors(async (): Promise<NamespaceRow> => {
        assertStorable(displayName);
        const data = { name, displayName, createdAtMs: BigInt(createdAtMs) };
        return SHOWN.of(await client.namespace.create({ data, select: SHOWN.selected }));
      }),

    /** The namespace must exist, and have a row. */
    show: (name: string, displayName: string): Promise<void> =>
      withServiceErrors(async () => {
        assertStorable(displayName);
        await client.namespace.update({ where: { name }, data: { displayName }, select: { name: true } });
      }),

    /** Marks a namespace as deleted, and revokes its keys: from now on it has no callers. */
    close: (name: string, nowMs: number): Promise<void> =>
      withServiceErrors(async () => {
        const deletedAtMs = BigInt(nowMs);
        await client.namespace.update({ where: { name }, data: { deletedAtMs }, select: { name: true } });
        await client.apiKey.updateMany({
          where: { namespace: name, revokedAtMs: null },
          data: { revokedAtMs: deletedAtMs },
        });
      }),
  };
}
