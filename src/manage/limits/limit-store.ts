import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { RULE_KINDS } from '../../kernel/core/memory.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

/** A control, as far as its checks are concerned. */
export interface NamedDefinition {
  readonly id: number;
  readonly name: string;
  readonly data: string;
}

/** What is stored of controls with memory, of a namespace. Rejects with a `ServiceError` only. */
export function createLimitStore(scope: Scoped) {
  const { client, namespace } = scope;
  return {
    /** Whether some control can have a check with memory: its definition has the name of such an evaluator. */
    mayRemember: (): Promise<boolean> =>
      withServiceErrors(async () => {
        const named = RULE_KINDS.map((kind) => Prisma.sql`c."data" LIKE ${`%"${kind}"%`}`);
        const rows = await client.$queryRaw<unknown[]>`
          SELECT 1 FROM "controls" c
          WHERE ${inNamespace('c', scope)} AND c."deleted_at_ms" IS NULL AND (${Prisma.join(named, ' OR ')})
          LIMIT 1`;
        return rows.length > 0;
      }),

    /** Those of these controls that exist. */
    controls: (ids: readonly number[]): Promise<NamedDefinition[]> =>
      withServiceErrors(() =>
        client.control.findMany({
          where: { id: { in: [...ids] }, namespace: namespace.name, deletedAtMs: null },
          select: { id: true, name: true, data: true },
        }),
      ),
  };
}
