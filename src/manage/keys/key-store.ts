import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, json, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { assertStorable, nameContains } from '../../storage/database/text.js';

const KEY = columns({
  id: number,
  namespace: text,
  name: text,
  owner: nullable(text),
  /** Null if it lists its scopes itself. */
  role: nullable(text),
  /** Null if it has a role. */
  scopes: nullable(json<readonly string[]>()),
  /** Names and patterns; null for all agents. */
  agents: nullable(json<readonly string[]>()),
  /** SHA-256 of the current secret, in hexadecimal. */
  hash: text,
  prefix: text,
  previousHash: nullable(text),
  previousUntilMs: nullable(number),
  createdAtMs: number,
  createdBy: nullable(text),
  expiresAtMs: nullable(number),
  rotatedAtMs: nullable(number),
  revokedAtMs: nullable(number),
});

/** A key as stored. Times are in milliseconds since 1970, null for never. */
export interface KeyRow extends ReadRow<typeof KEY> {
  /** Exact to a minute. */
  readonly lastUsedMs: number | null;
}

/** What a new key has. */
export type NewKey = Pick<
  KeyRow,
  | 'name'
  | 'owner'
  | 'role'
  | 'scopes'
  | 'agents'
  | 'hash'
  | 'prefix'
  | 'createdAtMs'
  | 'createdBy'
  | 'expiresAtMs'
>;

/** Selection of keys to list. */
export interface KeyFilters extends PageAsked<number> {
  readonly includeEnded: boolean;
  /** Part of the name or of the owner, ignoring case. */
  readonly nameContains: string | null;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** The keys of a namespace. Every method rejects with a `ServiceError` only. */
export function createKeyStore({ client, namespace }: Scoped) {
  return {
    /** Null also for a number that cannot be the id of a key, and for keys of other namespaces. */
    find: (id: number): Promise<KeyRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.apiKey.findUnique({ where: { id, namespace: namespace.name } });
        return row === null ? null : toRow(row);
      }),

    /** One page, newest first. */
    list: ({ cursor, limit, includeEnded, nameContains: part, nowMs }: KeyFilters): Promise<Page<KeyRow>> =>
      withServiceErrors(() => {
        const named = part ?? '';
        const filters = [
          Prisma.sql`k."namespace" = ${namespace.name}`,
          ...(named === ''
            ? []
            : [
                Prisma.sql`(${nameContains(Prisma.sql`k."name"`, named)} OR ${nameContains(Prisma.sql`coalesce(k."owner", '')`, named)})`,
              ]),
          ...(includeEnded
            ? []
            : [
                Prisma.sql`k."revoked_at_ms" IS NULL AND (k."expires_at_ms" IS NULL OR k."expires_at_ms" > ${BigInt(nowMs)})`,
              ]),
        ];
        const query = {
          from: Prisma.sql`"api_keys" k`,
          filters,
          ...newestFirst(Prisma.sql`k."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const rows = await client.apiKey.findMany({
            where: { id: { in: ids }, namespace: namespace.name },
          });
          return rows.map(toRow);
        });
      }),

    insert: (key: NewKey): Promise<KeyRow> =>
      withServiceErrors(async () => {
        const { scopes, agents, createdAtMs, expiresAtMs, ...texts } = key;
        for (const text of [key.name, key.owner ?? '', key.createdBy ?? '']) assertStorable(text);
        const data = {
          ...texts,
          namespace: namespace.name,
          scopes: scopes === null ? null : JSON.stringify(scopes),
          agents: agents === null ? null : JSON.stringify(agents),
          createdAtMs: BigInt(createdAtMs),
          expiresAtMs: expiresAtMs === null ? null : BigInt(expiresAtMs),
        };
        return toRow(await client.apiKey.create({ data }));
      }),

    /** Gives a key a new secret. The one before is valid until `previousUntilMs`; null if it ends at once. */
    rotate: (
      before: KeyRow,
      secret: Pick<KeyRow, 'hash' | 'prefix'>,
      { nowMs, previousUntilMs }: { readonly nowMs: number; readonly previousUntilMs: number | null },
    ): Promise<KeyRow> =>
      withServiceErrors(async () => {
        const data = {
          ...secret,
          previousHash: previousUntilMs === null ? null : before.hash,
          previousUntilMs: previousUntilMs === null ? null : BigInt(previousUntilMs),
          rotatedAtMs: BigInt(nowMs),
        };
        return toRow(
          await client.apiKey.update({ where: { id: before.id, namespace: namespace.name }, data }),
        );
      }),

    /** Ends a key with all of its secrets. */
    revoke: (id: number, nowMs: number): Promise<KeyRow> =>
      withServiceErrors(async () => {
        const data = { revokedAtMs: BigInt(nowMs), previousHash: null, previousUntilMs: null };
        return toRow(await client.apiKey.update({ where: { id, namespace: namespace.name }, data }));
      }),
  };
}

function toRow(row: Prisma.ApiKeyGetPayload<object>): KeyRow {
  const { lastUsedS } = row;
  return { ...KEY.of(row), lastUsedMs: lastUsedS === null ? null : Number(lastUsedS) * 1000 };
}
