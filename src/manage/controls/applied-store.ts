import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { insertRows } from '../../storage/database/insert-rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type AppliedObject, objectOfKey } from './applied-object.js';

/** What is to be remembered of an object. */
export interface RememberedObject {
  readonly key: string;
  readonly digest: string;
  readonly base: string | null;
}

const APPLIED = {
  namespace: 'TEXT',
  key: 'TEXT',
  owner: 'TEXT',
  digest: 'TEXT',
  base: 'TEXT',
  applied_at_ms: 'BIGINT',
} as const;
const REPLACING = Prisma.sql`
  ON CONFLICT ("namespace", "key") DO UPDATE
  SET "owner" = excluded."owner", "digest" = excluded."digest", "base" = excluded."base",
    "applied_at_ms" = excluded."applied_at_ms"`;

/**
 * What owners have applied in a namespace. Writing needs the client of a mutation. Every method rejects with a `ServiceError`
 * only.
 */
export function createAppliedStore({ client, namespace }: Scoped) {
  const of = { namespace: namespace.name };
  const toApplied = ({ key, owner, digest, base }: AppliedRow): AppliedObject => ({
    ...objectOfKey(key),
    owner,
    digest,
    base,
  });
  return {
    /** What is remembered of objects, by key. */
    find: (keys: readonly string[]): Promise<AppliedObject[]> =>
      withServiceErrors(async () =>
        (
          await inPortions(keys, (key) =>
            client.appliedObject.findMany({ where: { ...of, key: { in: key } } }),
          )
        ).map(toApplied),
      ),

    /** What an owner has applied, by key ascending; of all owners without one. */
    ofOwner: (owner: string | null): Promise<AppliedObject[]> =>
      withServiceErrors(async () => {
        const where = owner === null ? of : { ...of, owner };
        return (await client.appliedObject.findMany({ where, orderBy: { key: 'asc' } })).map(toApplied);
      }),

    /** Remembers objects as those of an owner, whatever was remembered of them. */
    remember: (owner: string, objects: readonly RememberedObject[], nowMs: number): Promise<void> =>
      withServiceErrors(async () => {
        const values = { owner, namespace: namespace.name, applied_at_ms: BigInt(nowMs) };
        const rows = objects.map((object) => ({ ...object, ...values }));
        await insertRows(client, 'applied_objects', APPLIED, rows, REPLACING);
      }),

    forget: (keys: readonly string[]): Promise<void> =>
      withServiceErrors(async () => {
        await inPortions(keys, async (portion) => {
          await client.appliedObject.deleteMany({ where: { ...of, key: { in: portion } } });
          return [];
        });
      }),
  };
}

interface AppliedRow {
  readonly key: string;
  readonly owner: string;
  readonly digest: string;
  readonly base: string | null;
}
