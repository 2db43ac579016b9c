import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { hashText } from '../../storage/database/text.js';
import type { ControlFacet } from './control-filters.js';
import { isDraft } from './definition/definition.js';
import { definitionIndex } from './definition-index.js';
import { readStoredDefinition } from './definition-presentation.js';

/** Controls read at once, which takes some milliseconds. */
const BATCH = 20;
/** Programs of earlier versions store neither of these. */
const ADDED: readonly ControlFacet['kind'][] = ['step_name', 'decision'];
/** Of a definition that cannot be read: the control is not looked at again. */
const UNREADABLE: readonly ControlFacet[] = [{ kind: 'decision', value: '' }];

export interface FacetUpkeepOptions {
  readonly database: Pick<Database, 'client' | 'bulk'>;
  readonly registry: EvaluatorRegistry;
}

/**
 * Adds what lists are filtered by to controls that a program of an earlier version stored: it replaces the facets of a
 * control by those that it knows, so every control without a decision is one of these. No verdict depends on it.
 */
export function createFacetUpkeep({ database, registry }: FacetUpkeepOptions): { catchUp(): Promise<void> } {
  return {
    async catchUp() {
      for (;;) {
        const rows = await unread(database);
        if (rows.length === 0) return;
        const statements = rows.flatMap((row) => completed(row, registry));
        await database.bulk.transaction((tx) => tx.run(...statements));
      }
    },
  };
}

interface UnreadRow {
  readonly id: number;
  readonly data: string;
  readonly updatedAtMs: bigint;
}

function unread({ client }: Pick<Database, 'client'>): Promise<UnreadRow[]> {
  return withServiceErrors(
    () => client.$queryRaw<UnreadRow[]>`
      SELECT c."id", c."data", c."updated_at_ms" AS "updatedAtMs" FROM "controls" c
      WHERE c."deleted_at_ms" IS NULL AND c."template_rendered" IS NOT FALSE AND NOT EXISTS (
        SELECT 1 FROM "control_facets" f WHERE f."control_id" = c."id" AND f."kind" = 'decision')
      ORDER BY c."id" LIMIT ${BATCH}`,
  );
}

/** Statements without effect once the control is another one; the first locks its row against that. */
function completed({ id, data, updatedAtMs }: UnreadRow, registry: EvaluatorRegistry): Prisma.Sql[] {
  const read = readStoredDefinition(data, registry);
  const index = read.ok && !isDraft(read.stored) ? definitionIndex(read.stored) : null;
  const facets = index?.facets.filter(({ kind }) => ADDED.includes(kind)) ?? UNREADABLE;
  const same = Prisma.sql`
    "id" = ${Number(id)} AND "updated_at_ms" = ${BigInt(updatedAtMs)} AND "deleted_at_ms" IS NULL`;
  const rows = facets.map(
    ({ kind, value }) => Prisma.sql`
      SELECT "id", CAST(${kind} AS TEXT), CAST(${hashText(value)} AS TEXT) FROM "controls" WHERE ${same}`,
  );
  return [
    Prisma.sql`UPDATE "controls" SET "step_name_pattern" = ${index?.stepNamePattern ?? null} WHERE ${same}`,
    Prisma.sql`
      INSERT INTO "control_facets" ("control_id", "kind", "hash") ${Prisma.join(rows, ' UNION ALL ')}
      ON CONFLICT DO NOTHING`,
  ];
}
